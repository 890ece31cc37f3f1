import type { LooseResult, ToolEffect } from 'guard-gateway/core'
import { shortSha256 } from '#lib/ids'

/** Whether a call changes something. */
export const changes = (effect: ToolEffect | null): boolean => effect === 'edit' || effect === 'act'

/** The effect of a call whose result says that a command still runs. */
export const whilePending = (effect: ToolEffect | null): ToolEffect | null => (changes(effect) ? effect : 'wait')

/** What a name says by itself, and what its arguments may add. */
interface NameEffect {
  readonly effect: ToolEffect | null
  readonly inArguments: 'command' | 'view' | 'input' | 'action' | null
}

/** What the result of a call is known by: a notice of the client, which is worded alike for all calls, is equal only where the call is. */
export const resultOfCall = (key: string, { result, notice }: Pick<LooseResult, 'result' | 'notice'>): string | null =>
  notice && result !== null ? shortSha256(`${key} ${result}`) : result

/** The effect of a call by its tool's name and its canonical arguments. */
export const effectOf = (tool: string, args: string): ToolEffect | null => {
  const { effect, inArguments } = byName(tool)
  if (inArguments === null) return effect === 'look' && isTaskOutput(args) ? 'wait' : effect
  if (inArguments === 'command') return effectOfCommand(args)
  if (inArguments === 'action') return effectOfAction(args)
  if (inArguments === 'view') return isView(args) ? 'look' : effect
  return isSilence(args) ? 'wait' : effectOfCommand(args)
}

const action = /"action":\s?(?:"([\w-]{1,64})"|\{[^{}]{0,1000}?"type":\s?"([\w-]{1,64})")/

/** What a call of a computer or a browser does: it acts, unless it only waits, or takes a picture. */
const effectOfAction = (args: string): ToolEffect => {
  const [, plain, nested] = action.exec(args) ?? []
  const words = wordsOf(plain ?? nested ?? '')
  if (words.some((word) => waiting.has(word))) return 'wait'
  return words.some((word) => pictures.has(word)) ? 'look' : 'act'
}

const pictures: ReadonlySet<string> = new Set(['screenshot', 'snapshot', 'zoom', 'cursor'])

/** The effect of a call whose arguments are not known. */
export const effectOfName = (tool: string): ToolEffect | null => byName(tool).effect

/** Names whose effect is known: every request says each name again. When there are too many, it begins anew. */
const known = new Map<string, NameEffect>()
const MAX_KNOWN = { names: 1_000, chars: 256 }

const byName = (tool: string): NameEffect => {
  const earlier = known.get(tool)
  if (earlier !== undefined) return earlier
  if (known.size === MAX_KNOWN.names) known.clear()
  const effect = effectByName(tool)
  if (tool.length <= MAX_KNOWN.chars) known.set(tool, effect)
  return effect
}

const effectByName = (tool: string): NameEffect => {
  const words = wordsOf(lastPart(tool))
  const whole = words.join('')
  if (named.has(whole)) {
    const effect = named.get(whole) ?? null
    return { effect, inArguments: effect === null ? 'input' : effect === 'act' ? 'action' : null }
  }
  if (words.some((word) => operating.has(word))) return { effect: 'act', inArguments: 'action' }
  const effect = byWords(words)
  if (effect === 'general') return { effect: null, inArguments: 'command' }
  return { effect, inArguments: effect === 'edit' && words.includes('editor') ? 'view' : null }
}

/** The first word that says something decides. */
const byWords = (words: readonly string[]): ToolEffect | 'general' | null => {
  for (const [at, word] of words.entries()) {
    if (editing.has(word)) return 'edit'
    if (acting.has(word)) return 'act'
    if (waiting.has(word)) return 'wait'
    if (looking.has(word)) return effectAfterLookVerb(words.slice(at + 1))
    if (general.has(word)) return 'general'
  }
  return words.some((word) => posting.has(word)) ? 'edit' : null
}

/** `get_job_status` waits, and `SearchReplace` edits. */
const effectAfterLookVerb = (words: readonly string[]): ToolEffect => {
  if (words.includes('replace')) return 'edit'
  return words.some((word) => waiting.has(word)) ? 'wait' : 'look'
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/*
 * What the words of a tool's name say that a call does.
 * Evidence: the tools that Claude Code 2.1, Codex 0.169, OpenCode 1.18, pi 0.73, Qwen Code 0.24, Gemini CLI, Copilot CLI 1.0, Cline 3.0
 * and Continue 1.5 offer, and those of the MCP servers filesystem, memory, GitHub, Notion, Linear, Postgres, Supabase, Playwright, Serena.
 */

/** Edit, MultiEdit, NotebookEdit, Write, TodoWrite, apply_patch, str_replace_editor, create_issue, API-update-a-block … */
const editing = words(`
  add append apply archive assign cancel commit copy create delete deploy drop duplicate edit editor fork format import indent insert
  install link make merge migrate modify move mutate patch publish push refactor register remove rename replace reply reset resolve
  restore revert save set submit truncate uninstall unlink update upload upsert write
`)

/** browser_click, browser_press_key, scroll_down, debugger_step_over, book_flight, send_message, start_process, kill_terminal: the same call may do something else each time. */
const acting = words(`
  book click close connect continue drag disable enable fill hover invite key keypress keys kill launch lock notify pay press reopen
  restart resume scroll select send start step stop swipe switch tap transfer trigger type unlock
`)

/** Read, Grep, Glob, get_file_contents, list_issues, search_code, WebFetch, browser_navigate, SWE-agent's open … */
const looking = words(`
  analyze back browse calculate cat check compare count describe diff examine explain explore fetch find forward get glob goto grep head
  inspect list locate lookup ls navigate next open outline previous read recall reload retrieve search show snapshot stat summarize
  tail think tree validate verify view
`)

/** get_job_status, wait_for, poll_task, Monitor … */
const waiting = words('await monitor poll progress sleep status wait watch')

/** Bash, local_shell, exec_command, run_shell_command, execute_sql, run-raw-sql …: what a call does is in its arguments. */
const general = words(`
  bash cmd command console eval exec execute invoke powershell process pwsh python query repl run script sh shell sql terminal zsh
`)

/** Anthropic's `computer`, OpenAI's `computer_use_preview`: what a call does is in its member `action`. */
const operating = words('computer')

/** Methods of HTTP: Notion's `API-post-search` looks, `API-post-page` writes. They decide where no other word does. */
const posting = words('post put')

/** Tools whose names say less than what they do, in lower case and without signs. */
const named: ReadonlyMap<string, 'edit' | 'act' | 'look' | 'wait' | null> = new Map([
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

/** Longer commands are judged by their beginning. */
const COMMAND_CHARS = 4096

/** Where a command of a shell line, or a statement, may start, in JSON text or outside of it. */
const begin =
  '(?:^|[;&|({\\n"\'`]|\\\\n|\\bthen\\b|\\bdo\\b|\\bxargs\\b|-exec)\\s{0,32}(?:sudo\\s+|time\\s+|env\\s+|\\w{1,64}=\\S{0,256}\\s+){0,4}'

const shellChanges = [
  'rm|rmdir|mv|cp|mkdir|touch|chmod|chown|ln|install|dd|truncate|tee|patch|apply_patch|unzip|rsync|scp|kill|pkill|killall|crontab|useradd|mkfs|mount|ed|ex',
  'git\\s+(?:-[cC]\\s+\\S+\\s+|-\\S+\\s+){0,3}(?:add|am|apply|bisect|checkout|cherry-pick|clean|clone|commit|config|fetch|init|merge|mv|pull|push|rebase|reset|restore|revert|rm|stash|switch|tag|worktree|submodule)',
  '(?:npm|pnpm|yarn|bun)\\s+(?:i|install|ci|add|remove|rm|uninstall|update|upgrade|link|publish|init|version|dedupe)',
  '(?:pip3?|uv|poetry|conda|pipenv)\\s+(?:install|uninstall|add|remove|sync|lock|init|update|create|pip)',
  'cargo\\s+(?:add|remove|rm|fix|fmt|init|install|new|update)',
  'go\\s+(?:get|install|mod|generate|fmt)',
  '(?:apt|apt-get|brew|dnf|yum|apk|gem|bundle|composer|snap|pacman)\\s+(?:-\\S+\\s+){0,3}(?:install|remove|add|del|update|upgrade|require|-S)',
  'docker\\s+(?:compose\\s+)?(?:run|build|rm|rmi|stop|start|restart|up|down|create|kill|cp|pull|push|exec)',
  'kubectl\\s+(?:apply|delete|create|patch|edit|scale|set|annotate|label|replace|rollout\\s+(?:restart|undo))',
  '(?:terraform|tofu|pulumi)\\s+(?:apply|destroy|import|init|up)',
  '(?:systemctl|service)\\s+(?:\\S+\\s+)?(?:start|stop|restart|reload|enable|disable)',
  'gh\\s+\\w{1,16}\\s+(?:create|edit|close|reopen|merge|comment|delete|run|rerun|cancel)',
].join('|')

const statements =
  'insert\\s+into|update\\s+\\S{1,128}\\s+set|delete\\s+from|create|alter|drop|truncate|grant|revoke|merge\\s+into|replace\\s+into|refresh|vacuum|begin|commit|rollback|upsert'

/** A redirection into a file; not one into another stream, or into nothing. */
const redirection = '(?:^|[^-=<>&\\d])\\d?&?>{1,2}\\s{0,8}(?!&|\\s|=|/dev/(?:null|stderr|stdout|tty))["\'\\\\\\w./~$-]'

/** Programs that write by a flag or in their own language. */
const writers =
  '\\b(?:sed|perl|ruby)\\s+(?:-\\S+\\s+){0,4}-\\w{0,4}i|\\b(?:gofmt|rustfmt|black|isort|autopep8)\\b|--(?:fix|write|in-place)\\b|\\bopen\\([^)]{1,256},\\s{0,4}\\\\?["\'][wax]|\\.write\\(|write_text\\(|write(?:File|FileSync)\\(|\\bto_csv\\(|\\*\\*\\* (?:Begin Patch|Update File|Add File|Delete File)'

const changing = new RegExp(`${begin}(?:(?:${shellChanges})\\b|(?:${statements})\\b)|${redirection}|${writers}`, 'i')

/** A command that waits, or polls a status. */
const waits = new RegExp(
  `${begin}(?:sleep|wait|watch|gh\\s+(?:run\\s+(?:view|watch|list)|pr\\s+(?:checks|status))|glab\\s+ci|kubectl\\s+(?:get|wait|rollout\\s+status)|docker\\s+(?:ps|logs|wait|inspect)|systemctl\\s+(?:status|is-active)|jobs|ps|pgrep|squeue|qstat|tail\\s+-[fF]|aws\\s+\\S{1,32}\\s+(?:wait|describe)|journalctl)\\b|"(?:action|operation|command|mode)":\\s?"(?:poll|status|wait|log|peek)"`,
  'i',
)

/** Arguments of an editor that only shows: `str_replace_editor` of Anthropic's text editor tool and its like. */
const views = /"(?:command|action|operation)":\s?"(?:view|show|list|read|open|get|search)"/i

/** Codex's `write_stdin`, and Copilot's, with nothing to write. */
const silence = /"(?:chars|input|text|stdin)":\s?"(?:\\[nrt]|\s)*"/

/** Whether the arguments of a general tool change something, or wait for something; a command that does both changes. Takes argument text. */
const effectOfCommand = (args: string): 'edit' | 'wait' | null => {
  const text = args.length > COMMAND_CHARS ? args.slice(0, COMMAND_CHARS) : args
  if (changing.test(text)) return 'edit'
  return waits.test(text) ? 'wait' : null
}

/** Whether the arguments of an editor say that it only shows something. */
const isView = (args: string): boolean => views.test(args.slice(0, COMMAND_CHARS))

/** Whether the arguments of what writes to a process hold nothing to write. */
const isSilence = (args: string): boolean => silence.test(args.slice(0, COMMAND_CHARS)) || args === '{}'

const taskOutput = /"[^"]{0,512}\/(?:tasks|background-shells)\/[^"]{0,256}\.(?:output|status|log|txt)"/

/** Whether a reader's arguments name the file to which a client writes what runs in the background: Claude Code 2.1, Qwen Code 0.24. */
const isTaskOutput = (args: string): boolean =>
  args.length < 1024 && (args.includes('/tasks/') || args.includes('/background-shells/')) && taskOutput.test(args)

/** Longer names are cut before they are read: no client has any. */
const NAME_CHARS = 256

/** What is between the parts of a qualified name: `mcp__files__read`, `browser.click`, `server/tool`, `ns:tool`. */
const qualifier = /__|[./:]/

const word = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{N}+/gu

/** The last part of a qualified name: `edit_file` of `mcp__filesystem__edit_file`. */
export const lastPart = (name: string): string => {
  const parts = name.slice(0, NAME_CHARS).split(qualifier)
  return parts.findLast((part) => part !== '') ?? ''
}

/** The words of a name, in lower case: `multi` and `edit` of `MultiEdit`, `multi_edit` and `multi-edit`. */
export const wordsOf = (name: string): readonly string[] =>
  (name.slice(0, NAME_CHARS).match(word) ?? []).map((one) => one.toLowerCase())
