import { linesOf } from '../lines.ts'

const lines = (name: string): string[] => linesOf(`shell/${name}`)

/** Commands that pass under the options of the test, a line each, and those of several lines. */
export const ordinary: readonly string[] = [
  ...lines('ordinary.txt'),
  'ls \\\n  -l',
  'npm test \\\n  -- \\\n  --watch',
  'ls\nls -l\n',
  '\n\nls\n',
  'ls # one\nls # two',
  'echo "a\nb"',
  "echo 'a\nb'",
  'ls\t-l',
  'ls {}',
  'ls café',
  'ls 2>/dev/null',
  'ls >/dev/null 2>&1',
]

/** Commands that run something else, or of which it cannot be said what they run. */
export const attacks: readonly string[] = [
  ...lines('attacks.txt'),
  ...lines('attacks-programs.txt'),
  ...lines('attacks-syntax.txt'),
  ...lines('attacks-substitutions.txt'),
  '',
  ' ',
  '\n',
  '# only a comment',
  'cat <<EOF\n$(rm x)\nEOF',
  "cat <<'EOF'\nx\nEOF\nrm x",
  'ls\nrm x',
  'ls\n\nrm x',
  'ls # comment\nrm x',
  'ls \\\n; rm x',
  'ls \\\\\nrm x',
  'echo "a\n" ; rm x',
  "echo 'a\n'; rm x",
  'ls\\\nx',
  'l\\\ns; r\\\nm x',
  'ls\0rm',
  'ls\rrm x',
  'ls\r\nrm x',
  'ls \u001b[2J',
  'ls\u0085rm x',
  'ls\u00a0-l',
  'ls\u2028rm x',
  'ls\u200b',
  'l\u00ads',
  '\ufeffls',
  'ls \u007f',
  'ls\u000brm x',
  'ls\frm x',
  '('.repeat(5000),
  `${'( '.repeat(30_000)}ls`,
  `ls ${'a '.repeat(40_000)}`,
  '$('.repeat(5000),
  '"$('.repeat(2000),
  `${'if true; then '.repeat(2000)}ls`,
]

/** Programs that agents use all day. */
export const agentPrograms: string[] =
  `git npm npx pnpm yarn ls cat grep rg echo printf wc sort cut tr diff tree find awk docker psql kubectl python3 pytest pip cargo go make mvn
  ./gradlew node curl jq mkdir touch cp mv chmod cd head tail sed uniq which ps lsof du df uname tar unzip stat test true false gh aws
  terraform helm rsync sqlite3 openssl base64 sleep paste xargs timeout time env pwd whoami hostname date tee wget apt-get
  svn hg ag ack bat delta shuf iconv xxd rpm aria2c man cmake ctest bazel java gcc clang zip ssh-keygen mysql duckdb
  rustc gradle pip3`.split(/\s+/)

/** What agents really send to them. */
export const agentCalls: readonly string[] = [
  ...lines('ordinary-git.txt'),
  ...lines('ordinary-agents.txt'),
  ...lines('ordinary-parts.txt'),
  ...lines('ordinary-languages.txt'),
  ...lines('ordinary-options.txt'),
]

/** Allowed programs that are made to run others by their arguments. */
export const actingCalls: readonly string[] = [
  ...lines('attacks-arguments.txt'),
  ...lines('attacks-parts.txt'),
  ...lines('attacks-languages.txt'),
  ...lines('attacks-options.txt'),
]

/** Commands that hide `rm`, `curl` or `git push` from a list of denied ones. */
export const hiddenCalls: readonly string[] = [
  ...lines('attacks-hidden.txt'),
  ...lines('attacks-hidden-programs.txt'),
  ...lines('attacks-hidden-runners.txt'),
]

/** Commands in which nothing of that is hidden. */
export const openCalls: readonly string[] = lines('ordinary-denying.txt')

/** Programs whose arguments say what is run, read or written beside what they are called for. */
export const callerPrograms: string[] =
  `make gmake just task rake invoke pylint exiftool tox pidstat service tdbtool convert magick gs groff chromium google-chrome history curl
  wget file tree ss sort xmllint base64 yq nmap kubectl helm npm npx pnpm yarn cargo go eslint prettier jest vitest mocha pytest python3
  mypy rspec rubocop bundle phpunit mvn gradle ./gradlew node ruby terraform cmake tsc xargs`.split(/\s+/)

export const callerCalls: readonly string[] = lines('ordinary-caller.txt')
export const callerAttacks: readonly string[] = lines('attacks-caller.txt')
