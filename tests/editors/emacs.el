;;; One editing session in a headless Emacs with eglot: what a person gets from the server, as JSON. -*- lexical-binding: t -*-
;;
;;   WAZA_CONFIGURATION  the file with what a person writes in their init file
;;   WAZA_REPORT         the file to write
;;   emacs --batch -q -l emacs.el eval.yaml

(require 'package)
(package-initialize)
(require 'cl-lib)
(require 'json)
(load (getenv "WAZA_CONFIGURATION") nil t)

(defvar waza-report nil "An alist of what was seen.")
(defvar waza-messages nil "What the server said to the user, the newest first.")
(defvar waza-deadline 60 "Seconds, for each answer.")

(defun waza-saw (key value)
  (push (cons key value) waza-report))

(defun waza-wait-for (what condition)
  "Return what CONDITION returns as soon as that is not nil."
  (let ((end (+ (float-time) waza-deadline)) found)
    (while (not (setq found (funcall condition)))
      (when (> (float-time) end)
        (error "Waited in vain for %s; messages: %S" what waza-messages))
      (accept-process-output nil 0.05))
    found))

(defun waza-diagnostics ()
  "The problems that Emacs shows in this buffer: line from 1, column, end column, text."
  (mapcar (lambda (found)
            (save-excursion
              (goto-char (flymake-diagnostic-beg found))
              (vector (line-number-at-pos) (current-column)
                      (+ (current-column) (- (flymake-diagnostic-end found) (flymake-diagnostic-beg found)))
                      (flymake-diagnostic-text found))))
          (flymake-diagnostics)))

(defun waza-choose (wanted)
  "Ask for the actions at point as a person does, and take the one whose title has WANTED in it.
Return all titles that were offered; the one that is wanted may take a while to be."
  (let ((last-nonmenu-event ?a) offered) ; by a key, not by the mouse
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt choices &rest _)
                 (setq offered (mapcar #'car choices))
                 (or (cl-find wanted offered :test #'string-search) (signal 'quit nil)))))
      (waza-wait-for
       (format "the action %s among %S" wanted offered)
       (lambda ()
         (condition-case nil
             (progn (call-interactively #'eglot-code-actions) t)
           ((quit error) nil))))
      (vconcat offered))))

(defun waza-hover-with (mark)
  "What the server says at the name of the grader, as soon as MARK is in it."
  (goto-char (point-min))
  (search-forward "says_hello")
  (backward-char)
  (waza-wait-for
   (format "a hover with %s" mark)
   (lambda ()
     (let ((said (json-encode (jsonrpc-request (eglot-current-server) :textDocument/hover
                                               (eglot--TextDocumentPositionParams)))))
       (and (string-search mark said) said)))))

(defun waza-session ()
  (find-file "eval.yaml")
  (run-hooks 'post-command-hook) ; without a person there is no command, after which a server is started
  (waza-wait-for "the server" #'eglot-current-server)
  (flymake-start)
  (waza-wait-for "problems" #'waza-diagnostics)
  (waza-saw 'diagnostics (vconcat (waza-diagnostics)))
  (goto-char (point-min))
  (search-forward "contians")
  (goto-char (match-beginning 0))
  (waza-saw 'fixes (waza-choose "contains"))
  (save-buffer)
  (waza-wait-for "the problem to go" (lambda () (null (waza-diagnostics))))
  (waza-saw 'text (buffer-substring-no-properties (point-min) (point-max)))
  (goto-char (point-min))
  (waza-saw 'runs (waza-choose "Run suite"))
  (waza-saw 'ended (waza-wait-for "the end of the run" (lambda () (car waza-messages))))
  (waza-saw 'recorded (waza-hover-with "✗"))
  (goto-char (point-min))
  (search-forward "[\"no such words\"]")
  (replace-match "[\"Say hello\"]")
  (waza-saw 'regrades (waza-choose "Re-grade grader"))
  (waza-saw 'regraded (waza-hover-with "✓")))

(cl-defmethod eglot-handle-notification :before (_server (_method (eql window/showMessage)) &key message &allow-other-keys)
  (push message waza-messages))

(condition-case failure
    (waza-session)
  (error (waza-saw 'failure (format "%S" failure))))
(with-temp-file (getenv "WAZA_REPORT")
  (insert (json-encode waza-report)))
(set-buffer-modified-p nil)
(ignore-errors (eglot-shutdown-all))
