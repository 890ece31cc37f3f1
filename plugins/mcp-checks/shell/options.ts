/**
 * Options that make a program run other commands, or write or delete files. Long options also match abbreviations,
 * and letters match within clusters.
 */
export const OPTIONS: Readonly<Record<string, string>> = {
  find: '-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls',
  fd: '-x -X --exec --exec-batch',
  fdfind: '-x -X --exec --exec-batch',
  rg: '--pre --hostname-bin',
  sort: '-o --output --compress-program',
  split: '--filter',
  tar: '-I -F --use-compress-program --checkpoint-action --to-command --rsh-command --rmt-command --info-script --new-volume-script',
  bsdtar: '-I --use-compress-program',
  zip: '--unzip-command',
  rsync: '-e -M --rsh --rsync-path --remote-option --daemon --server',
  scp: '-S -o -F -D',
  sftp: '-S -o -F',
  tcpdump: '-z -w',
  install: '--strip-program',
  cpio: '--rsh-command',
  diff3: '--diff-program',
  sdiff: '--diff-program',
  mypy: '--python-executable',
  gem: '-e --editor',
  jj: '--config --config-toml --config-file',
  npm: '--script-shell --shell --node-options',
  pnpm: '--script-shell --shell-mode',
  make: '-E --eval',
  gcc: '-wrapper -fplugin -specs',
  cc: '-wrapper -fplugin -specs',
  'g++': '-wrapper -fplugin -specs',
  clang: '-fplugin -fpass-plugin -load',
  'clang++': '-fplugin -fpass-plugin -load',
  go: '-exec -toolexec -vettool',
  cargo: '--config',
  openssl: '-engine -provider-path',
  wget: '--use-askpass --config',
  pip: '--config-settings --global-option --install-option --python --editor',
  apt: '-o -c --option --config-file',
  'apt-get': '-o -c --option --config-file',
  svn: '--diff-cmd --diff3-cmd --editor-cmd --config-option --config-dir',
  hg: '--config --ssh --remotecmd --command --program --tool',
  ag: '--pager',
  ack: '--pager',
  bat: '--pager',
  batcat: '--pager',
  delta: '--pager --config',
  shuf: '-o --output',
  tree: '-o -R',
  iconv: '-o --output',
  man: '-P -H -C --pager --html --config-file',
  mysql: '--pager --plugin-dir',
  mariadb: '--pager --plugin-dir',
  helm: '--post-renderer',
  bazel: '--run_under --workspace_status_command --shell_executable --credential_helper --server_javabase',
  ctest: '--test-command --build-makeprogram',
  'ssh-keygen': '-D -w',
  sqlite3: '-A',
  terraform: '-plugin-dir',
  tofu: '-plugin-dir',
  yarn: '--script-shell --use-yarnrc',
  nodemon: '-x --exec',
  just: '-c --command --shell',
  pandoc: '-F -L --filter --lua-filter --pdf-engine',
  restic: '--password-command',
  borg: '--rsh --remote-path',
  certbot: '--pre-hook --post-hook --deploy-hook --renew-hook --manual-auth-hook --manual-cleanup-hook',
  openvpn: '--up --down --script-security',
  tshark: '-X -w',
  pylint: '--init-hook',
  exiftool: '-if -if2 -if3 -if4 -if5 -config -execute',
  tox: '-x --override',
  pidstat: '-e',
  groff: '-U',
  history: '-a -w -c -d',
  file: '-C --compile',
  ss: '-D -K --diag --kill',
  lsof: '-D',
  yq: '-i --inplace -s --split-exp',
  xmllint: '-o --output --shell',
  xsltproc: '-o --output --writesubtree',
  base64: '-o --output',
  ctags: '-f -o --options',
  dot: '-o -O',
  info: '-o --output --init-file',
  dmesg: '-C -c --clear --read-clear',
}

/** Options that make a built-in evaluate a variable name, or that change how the shell parses later words. */
export const BUILT_IN: Readonly<Record<string, string>> = { printf: '-v', test: '-v -R', wait: '-p', set: '-k -H' }

/** Shell modes other than these change parsing, for example `keyword` and `history`. */
const NO_PLAIN_MODE =
  /^(?!(?:allexport|errexit|errtrace|functrace|ignoreeof|monitor|noclobber|noexec|noglob|notify|nounset|physical|pipefail|posix|verbose|xtrace)$)[a-z]/i

/** Options that act only after certain subcommands. */
export const SUBCOMMAND_OPTIONS: Readonly<Record<string, readonly (readonly [subcommand: RegExp, option: RegExp])[]>> =
  {
    hg: [
      [/^bisect$/, /^-[a-z]*c/],
      [/^(?:merge|resolve|update|rebase|graft|backout|unshelve)$/, /^-[a-z]*t/],
      [/^extdiff$/, /^-[a-z]*p/],
    ],
    npm: [
      [
        /^(?:c|conf(?:ig?)?|set)$/,
        /^(?:shell|git|editor|viewer|browser|init-module|globalconfig|userconfig|script-shell|node-options)(?:=|$)/,
      ],
    ],
    yarn: [
      [/^config$/, /^(?:yarn-?path|script-?shell|plugins)/i],
      [/^(?:version|import)$/, /^(?:\.{0,2}\/|https?:)|\.c?js$/],
    ],
    aws: [[/^configure$/, /^(?:\S+\.)?plugins\./]],
    gh: [[/^(?:codespace|cs)$/, /^(?:-[oFS]|.*proxycommand)/i]],
    cargo: [[/^watch$/, /^(?:-[a-z]*s|--shell)/]],
    puppet: [[/^apply$/, /^(?:-e|--ex)/]],
    set: [[/^[-+][A-Za-z]*o$/, NO_PLAIN_MODE]],
    shopt: [[/^-[a-z]*o/, NO_PLAIN_MODE]],
  }

const COMPRESSORS =
  /^(?:gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|zstdmt|lz4|lzip|plzip|lzop|brotli)(?: -(?:[0-9]+|T[0-9]*|[kdq]|-long(?:=[0-9]+)?))*$/
const SSH =
  /^ssh(?: -(?:[46CTqx]+|[pil] ?[\w./~-]+|o ?(?:StrictHostKeyChecking|UserKnownHostsFile|ConnectTimeout|BatchMode|IdentitiesOnly)=[\w./]+))*$/

/** Options with a harmless usual value: the option, and its allowed values. */
export const USUAL: ReadonlyMap<string, readonly [option: RegExp, value: RegExp]> = new Map([
  ['tar', [/^(?:-I|--use-compress-program)$/, COMPRESSORS]],
  ['rsync', [/^(?:-[A-LN-Za-z]*e|--rsh)$/, SSH]],
])
