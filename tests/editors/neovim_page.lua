-- What a person does in a Neovim whose init.lua is what docs/editors.md says; what they see goes to WAZA_REPORT as JSON.

local report = { messages = {} }

local function wait_for(what, condition)
  if not vim.wait(30000, condition, 20) then
    error("waited in vain for " .. what)
  end
end

local function typed(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), "mx", false)
end

local function session()
  vim.lsp.handlers["window/showMessage"] = function(_, params)
    table.insert(report.messages, params.message)
  end
  wait_for("diagnostics", function()
    return #vim.diagnostic.get(0) > 0
  end)
  report.diagnostics = #vim.diagnostic.get(0)
  vim.fn.search("contians")
  vim.cmd("normal! ciwcontains")
  vim.cmd("silent write")
  wait_for("the diagnostics of the repaired text", function()
    return #vim.diagnostic.get(0) == 0
  end)

  vim.fn.cursor(vim.fn.search("type: text", "w"), 11)
  typed("K")
  wait_for("the hover", function()
    return #vim.api.nvim_list_wins() > 1
  end)
  vim.cmd("silent! only")

  vim.ui.input = function(_, answer)
    answer("greets_back")
  end
  vim.fn.cursor(vim.fn.search("says_hello", "w"), 12)
  typed("grn")
  wait_for("the new name", function()
    return vim.fn.search("name: greets_back", "w") > 0
  end)
  vim.cmd("silent write")

  vim.fn.search("tasks/", "w")
  typed("gd")
  wait_for("the definition", function()
    return vim.api.nvim_buf_get_name(0):find("greet.yaml", 1, true) ~= nil
  end)
  report.file = vim.fn.expand("%:t")
  vim.cmd("buffer 1")

  wait_for("lenses", function()
    return #vim.lsp.codelens.get(0) > 0
  end)
  vim.ui.select = function(lenses, options, choose)
    for _, lens in ipairs(lenses) do
      if options.format_item(lens):find("Run suite") then
        return choose(lens)
      end
    end
  end
  vim.fn.cursor(1, 1)
  typed("<leader>r")
  wait_for("the end of the run", function()
    return report.messages[1] ~= nil
  end)
end

local ok, failure = pcall(session)
if not ok then
  report.failure = tostring(failure)
end
vim.fn.writefile({ vim.fn.json_encode(report) }, vim.env.WAZA_REPORT)
vim.cmd("qall!")
