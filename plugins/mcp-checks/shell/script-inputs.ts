import { psqlHasSideEffects } from './scripts.ts'

/** Full names of harmless sqlite3 commands. Others, and abbreviations, may run or write. */
const SHOWING =
  'tables?|schemas?|headers?|mode|index(?:es)?|indices|dump|databases|help|show|width|nullvalue|separator|echo|bail|stats|timer|timeout|eqp|explain|fullschema|dbinfo|lint|print|quit|exit|changes|limit|version|open(?!\\s+-)'

/** Any other sqlite3 command, and functions that run a program or write a file, quoted or not. */
const SQLITE = new RegExp(
  String.raw`^[ \t]*\.(?!(?:${SHOWING})(?:\s|$))[a-z]+(?:\s|$)|\b(?:load_extension|edit|readfile|writefile)["\x60\]]?\s*(?:\(|/\*|--)`,
  'im',
)

/** Search paths of a compiler for programs and modules that it runs. */
const COMPILER = /^-B|^(?:-Wl,(?:.*,)?)?--?plugin(?:[=,]|$)|^-fuse-ld=.*\/|^--(?:ld-path|config)(?:=|$)/
/** The linker of rustc, and its arguments that run something. */
const RUST = /^(?:-C|--codegen=)?link(?:er(?:-[a-z-]+)?=|-args?=.*(?:-B|-fuse-ld=.*\/|plugin))/
const GRADLE = /^(?:-I|--init-s)|^-Dorg\.gradle\.(?:java\.home|jvmargs=.*-(?:javaagent|agent))/
const PSQL = /\\!|\\setenv\b|%`|\bprogram\s*(?:'|:|\$|\/\*|--|[en]'|u&')|^(?:-[a-z0-9]*o|--out[a-z]*=)?\s*\|\s*[^\s|]/i
const MYSQL = /\\[!PT]|(?:^|;)\s*(?:system|pager|tee|edit)\b/i
/** ImageMagick names that mean a command, a list, a script or a URL. */
const IMAGES = /^(?:[a-z0-9]+:)?[|@]|^(?:msl|mvg|ephemeral|url|https?|ftp|text|show|win|x):/i
/** Browser options that name a helper program, load code or allow remote control. */
const BROWSER =
  /^--(?:[a-z0-9-]*(?:launcher|cmd-prefix|subprocess-path)|nacl-gdb[a-z-]*|load-extension|load-and-launch-app|disable-extensions-except|js-flags|no-sandbox|remote-debugging-[a-z-]+|user-data-dir|print-to-pdf|screenshot|require|r)(?:=|$)/i
const LATEX = /^-e$|^--?(?:shell-escape|enable-write18)/

/** Standard input of a program, which comes from another program or a here-document. */
const STDIN = String.raw`(?:-|(?:\S*/)?(?:stdin|fd/+0))$`

/** Arguments with embedded commands, at any position. */
const TEXTS: Readonly<Record<string, RegExp>> = {
  // code that make runs when it reads a variable, and code that its shell runs for one
  make: new RegExp(
    String.raw`^(?:SHELL|(?:GNU)?MAKEFLAGS|MAKEFILES|MAKE|\.SHELLFLAGS)\s*[:?+]*=|^[^=]*!\s*=|\$[({][^)}$\s]*[\s,<>]|\$\$[({]|\x60|^(?:-[A-Za-z]*f|--[fm][a-z]*=)?${STDIN}`,
  ),
  kubectl: /^(?:--kubeconfig=)?\S*\/(?:stdin|fd\/+0)$|^--exec-command|\.exec\.command$/,
  npm: /^(?:script-shell|node-options)(?:=|$)|^--init-m|:tokenHelper\b|^--(?:global|user)c|^--(?:git|editor|viewer|browser|python)(?:=|$)/,
  go: /^(?:GO(?:FLAGS|AUTH|CACHEPROG|ROOT)|CC|CXX|AR|FC|PKG_CONFIG)=|-extld\b|-f(?:pass-)?plugin\b|-wrapper\b/,
  gcc: COMPILER,
  cc: COMPILER,
  'g++': COMPILER,
  'c++': COMPILER,
  clang: COMPILER,
  'clang++': COMPILER,
  rustc: RUST,
  cargo: RUST,
  psql: PSQL,
  pgcli: PSQL,
  usql: PSQL,
  mysql: MYSQL,
  mariadb: MYSQL,
  mycli: MYSQL,
  sqlite3: new RegExp(`^--?init$|${SQLITE.source}`, 'im'),
  duckdb: new RegExp(`^-(?:-?init|unsigned)$|\\bload\\s*['$]|\\bshellfs\\b|${SQLITE.source}`, 'im'),
  wget: /a[-_]*s[-_]*k[-_]*p[-_]*a[-_]*s[-_]*s/i,
  rpm: /^--(?:pi|load|macros|rcfile)|%\(|%\{(?:lua|load)\b/,
  aria2c: /^--(?:on-|conf)/,
  zip: /^-[A-Za-z]*TT/,
  node: /^(?:--[a-z-]+=)?data:/i,
  pnpm: /^(?:--config\.)?(?:script-?shell|node-?options|shell-?mode)(?:=|$)|:tokenhelper\b/i,
  aws: /credential_process|cli_pager/,
  cmake: /^-E$/,
  mvn: /exec\.executable|^-D(?:maven\.ext\.class\.path|jvm)=|-(?:javaagent|agentpath|agentlib):/,
  gradle: GRADLE,
  gradlew: GRADLE,
  bazel: /^--host_jvm_args=-(?:javaagent|agent)/,
  java: /^-XX:(?:On[A-Za-z]*Error|Flags|VMOptionsFile)=|^-Xrun|^-(?:javaagent|agentpath|agentlib):/,
  latex: LATEX,
  pdflatex: LATEX,
  xelatex: LATEX,
  lualatex: LATEX,
  latexmk: LATEX,
  nmap: /^--script=.*\/|^-o[NXGAS]/,
  ...Object.fromEntries(
    ['convert', 'magick', 'identify', 'mogrify', 'composite', 'montage'].map((name) => [name, IMAGES]),
  ),
  ...Object.fromEntries(
    [
      'chromium',
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
      'chrome',
      'brave-browser',
      'microsoft-edge',
      'msedge',
      'electron',
    ].map((name) => [name, BROWSER]),
  ),
  gs: /^-d(?:NOSAFER|DELAYSAFER)|^-[cfo]$|^-o|%pipe%|^-sOutputFile=|^--permit-/i,
  exiftool: /\$\{[^}]*;|^-p$|<.*\$\{[^}]*;/,
  service: /\//,
  tdbtool: /^\s*(?:!|system\b)/,
  task: /^(?:exec?|execu?t?e?)$|^rc[.:]/i,
  rclone: /^--(?:sftp-ssh|password-command)/,
  mlr: /\b(?:system|exec)\s*\(|\|\s*"/,
}

/** True if any word of a program can contain a command. */
export const takesCommands = (program: string): boolean => Object.hasOwn(TEXTS, program)

/** True if the text contains a command that the program would run. */
export const readsCommands = (program: string, text: string): boolean =>
  (takesCommands(program) && TEXTS[program]?.test(text) === true) ||
  (/^(?:psql|pgcli|usql)$/.test(program) && psqlHasSideEffects(text))

/** Programs that run commands in their input. */
const CLIENTS = ['sqlite3', 'duckdb', 'psql', 'mysql', 'mariadb']

/** Programs that would run a command in one of the texts if they read it through a pipe. */
export const readersOf = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(CLIENTS.filter((program) => texts.some((text) => readsCommands(program, text))))
