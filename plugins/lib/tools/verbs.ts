const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/*
 * What the words of a tool's name say that a call does.
 * Evidence: the tools that Claude Code 2.1, Codex 0.169, OpenCode 1.18, pi 0.73, Qwen Code 0.24, Gemini CLI, Copilot CLI 1.0, Cline 3.0
 * and Continue 1.5 offer, and those of the MCP servers filesystem, memory, GitHub, Notion, Linear, Postgres, Supabase, Playwright, Serena.
 */

/** Edit, MultiEdit, NotebookEdit, Write, TodoWrite, apply_patch, str_replace_editor, create_issue, API-update-a-block … */
export const editing = words(`
  add append apply archive assign cancel commit copy create delete deploy drop duplicate edit editor fork format import indent insert
  install link make merge migrate modify move mutate patch publish push refactor register remove rename replace reply reset resolve
  restore revert save set submit truncate uninstall unlink update upload upsert write
`)

/** browser_click, browser_press_key, scroll_down, debugger_step_over, book_flight, send_message, start_process, kill_terminal: the same call may do something else each time. */
export const acting = words(`
  book click close connect continue drag disable enable fill hover invite key keypress keys kill launch lock notify pay press reopen
  restart resume scroll select send start step stop swipe switch tap transfer trigger type unlock
`)

/** Read, Grep, Glob, get_file_contents, list_issues, search_code, WebFetch, browser_navigate, SWE-agent's open … */
export const looking = words(`
  analyze back browse calculate cat check compare count describe diff examine explain explore fetch find forward get glob goto grep head
  inspect list locate lookup ls navigate next open outline previous read recall reload retrieve search show snapshot stat summarize
  tail think tree validate verify view
`)

/** get_job_status, wait_for, poll_task, Monitor … */
export const waiting = words('await monitor poll progress sleep status wait watch')

/** Bash, local_shell, exec_command, run_shell_command, execute_sql, run-raw-sql …: what a call does is in its arguments. */
export const general = words(`
  bash cmd command console eval exec execute invoke powershell process pwsh python query repl run script sh shell sql terminal zsh
`)

/** Anthropic's `computer`, OpenAI's `computer_use_preview`: what a call does is in its member `action`. */
export const operating = words('computer')

/** Methods of HTTP: Notion's `API-post-search` looks, `API-post-page` writes. They decide where no other word does. */
export const posting = words('post put')

/** Tools whose names say less than what they do, in lower case and without signs. */
export const named: ReadonlyMap<string, 'edit' | 'act' | 'look' | 'wait' | null> = new Map([
  // Cline: what it does is in its member `action`
  ['browseraction', 'act'],
  // Claude Code: output of what runs in the background
  ['bashoutput', 'wait'],
  ['taskoutput', 'wait'],
  ['agentoutputtool', 'wait'],
  // Copilot CLI 1.0: output of a shell session, or of another agent
  ['readbash', 'wait'],
  ['readpowershell', 'wait'],
  ['listbash', 'wait'],
  ['readagent', 'wait'],
  // Continue 1.5
  ['checkbackgroundjob', 'wait'],
  ['checklist', 'edit'],
  // Gemini CLI 0.6
  ['readbackgroundoutput', 'wait'],
  ['listbackgroundprocesses', 'wait'],
  // Kilo 7.7: what it does is in its arguments
  ['backgroundprocess', null],
  // Codex: input for a process; with none it waits, which its arguments tell
  ['writestdin', null],
  // Copilot CLI
  ['writebash', null],
  ['todoread', 'look'],
  ['tasklist', 'look'],
  ['taskget', 'look'],
])
