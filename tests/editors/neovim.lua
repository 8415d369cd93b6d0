-- One editing session in a headless Neovim (0.7 or newer): what its own LSP client gets from the server, as JSON.
--
--   WAZA_SERVER   the command that starts the server, a JSON list
--   WAZA_REPORT   the file to write
--   nvim --headless --clean -S neovim.lua eval.yaml

local DEADLINE = 30000 -- milliseconds, for each answer
local report = { progress = {}, messages = {} }
local client_id

local function finish()
  vim.fn.writefile({ vim.fn.json_encode(report) }, vim.env.WAZA_REPORT)
  if client_id then
    vim.lsp.stop_client(client_id)
    vim.wait(5000, function()
      return vim.lsp.get_client_by_id(client_id) == nil
    end, 20)
  end
  vim.cmd("qall!")
end

local function wait_for(what, condition)
  if not vim.wait(DEADLINE, condition, 20) then
    error("waited in vain for " .. what)
  end
end

local function ask(method, params)
  local answers, failure = vim.lsp.buf_request_sync(0, method, params, DEADLINE)
  local answer = answers and answers[client_id]
  if not answer or answer.error then
    error(method .. ": " .. tostring(failure or (answer and answer.error.message) or "no answer"))
  end
  return answer.result
end

local function edit_of(action)
  if action.edit then
    return action.edit
  end
  return ask("codeAction/resolve", action).edit
end

-- Clicks the lens of a line whose title matches, and returns all lenses.
local function click(document, line, title)
  local lenses = ask("textDocument/codeLens", { textDocument = document })
  for _, lens in ipairs(lenses) do
    if lens.range.start.line == line and lens.command.title:find(title) then
      ask("workspace/executeCommand", { command = lens.command.command, arguments = lens.command.arguments, workDoneToken = "run" })
      return lenses
    end
  end
  error("no lens " .. title .. " in " .. vim.fn.json_encode(lenses))
end

-- Returns the inlay hints as soon as one of them has this mark.
local function hints_with(document, mark)
  local last = { line = vim.api.nvim_buf_line_count(0), character = 0 }
  local whole = { start = { line = 0, character = 0 }, ["end"] = last }
  local hints = {}
  wait_for("a hint with " .. mark, function()
    hints = ask("textDocument/inlayHint", { textDocument = document, range = whole })
    return vim.fn.json_encode(hints):find(mark, 1, true) ~= nil
  end)
  return hints
end

local function session()
  local document = { uri = vim.uri_from_bufnr(0) }
  client_id = vim.lsp.start_client({
    name = "waza",
    cmd = vim.fn.json_decode(vim.env.WAZA_SERVER),
    root_dir = vim.fn.getcwd(),
    handlers = {
      ["$/progress"] = function(_, params)
        table.insert(report.progress, params.value.kind)
      end,
      ["window/showMessage"] = function(_, params)
        table.insert(report.messages, params.message)
      end,
    },
  })
  vim.lsp.buf_attach_client(0, client_id)

  wait_for("diagnostics", function()
    return #vim.diagnostic.get(0) > 0
  end)
  report.diagnostics = vim.tbl_map(function(found)
    return { line = found.lnum, column = found.col, end_column = found.end_col, message = found.message }
  end, vim.diagnostic.get(0))

  local mistake = vim.diagnostic.get(0)[1]
  local start = { line = mistake.lnum, character = mistake.col }
  local stop = { line = mistake.end_lnum, character = mistake.end_col }
  report.hover = ask("textDocument/hover", { textDocument = document, position = { line = vim.fn.search("type: text") - 1, character = vim.fn.col(".") + 1 } })

  local raw = mistake.user_data and mistake.user_data.lsp or {}
  local diagnostic = {
    range = { start = start, ["end"] = stop },
    message = mistake.message,
    code = mistake.code or raw.code,
    source = mistake.source,
    data = raw.data,
  }
  local actions = ask("textDocument/codeAction", {
    textDocument = document,
    range = diagnostic.range,
    context = { diagnostics = { diagnostic }, only = { "quickfix" } },
  })
  report.actions = vim.tbl_map(function(action)
    return action.title
  end, actions)
  local encoding = vim.lsp.get_client_by_id(client_id).offset_encoding
  vim.lsp.util.apply_workspace_edit(edit_of(actions[1]), encoding)
  wait_for("the diagnostics of the repaired text", function()
    return #vim.diagnostic.get(0) == 0
  end)
  vim.cmd("silent write")
  report.text = vim.api.nvim_buf_get_lines(0, 0, -1, false)

  local lenses = click(document, 0, "Run suite")
  report.lenses = vim.tbl_map(function(lens)
    return lens.command.title
  end, lenses)
  wait_for("the end of the run", function()
    return report.messages[1] ~= nil
  end)
  report.hints = hints_with(document, "✗")

  local line = vim.fn.search("no such words")
  vim.api.nvim_buf_set_lines(0, line - 1, line, true, { '      contains: ["Say hello"]' })
  click(document, vim.fn.search("- type: text") - 1, "Re%-grade")
  report.regraded = hints_with(document, "✓")
end

local ok, failure = pcall(session)
if not ok then
  report.failure = tostring(failure)
end
finish()
