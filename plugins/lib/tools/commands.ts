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

const changes = new RegExp(`${begin}(?:(?:${shellChanges})\\b|(?:${statements})\\b)|${redirection}|${writers}`, 'i')

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
export const effectOfCommand = (args: string): 'edit' | 'wait' | null => {
  const text = args.length > COMMAND_CHARS ? args.slice(0, COMMAND_CHARS) : args
  if (changes.test(text)) return 'edit'
  return waits.test(text) ? 'wait' : null
}

/** Whether the arguments of an editor say that it only shows something. */
export const isView = (args: string): boolean => views.test(args.slice(0, COMMAND_CHARS))

/** Whether the arguments of what writes to a process hold nothing to write. */
export const isSilence = (args: string): boolean => silence.test(args.slice(0, COMMAND_CHARS)) || args === '{}'

const taskOutput = /"[^"]{0,512}\/(?:tasks|background-shells)\/[^"]{0,256}\.(?:output|status|log|txt)"/

/** Whether a reader's arguments name the file to which a client writes what runs in the background: Claude Code 2.1, Qwen Code 0.24. */
export const isTaskOutput = (args: string): boolean =>
  args.length < 1024 && (args.includes('/tasks/') || args.includes('/background-shells/')) && taskOutput.test(args)
