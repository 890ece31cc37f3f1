/** A program on the command line that is read. */
export interface Command {
  readonly options: PasswordOptions
  readonly from: number
  /** Where its line ends, lines that a backslash continues included. */
  readonly until: number
}
/** Options of one letter whose value is a password. */
export interface PasswordOptions {
  /** Letters with the value directly behind them: `-psecret`. */
  readonly joined: string
  /** Letters with the value behind a blank: `-p secret`. */
  readonly apart: string
  /** A letter with a user and a password behind it, and the sign between these: `-u user,secret`. */
  readonly login: string
}

const options = (
  names: string,
  joined: string,
  apart: string,
  login = '',
): readonly (readonly [string, PasswordOptions])[] =>
  names.split(' ').map((name) => [name, { joined, apart, login }] as const)

/** Programs that take a password as an option of one letter, as their manual pages say. */
const COMMANDS: ReadonlyMap<string, PasswordOptions> = new Map([
  ...options('mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlpump mysqlbinlog mysqlslap', 'p', ''),
  ...options('mysqlsh mycli mariadb mariadb-dump mariadb-admin mariadb-import mariadb-check mytop', 'p', ''),
  ...options('sshpass', 'p', 'p'),
  ...options('redis-cli valkey-cli keydb-cli', '', 'a'),
  ...options('mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat cqlsh', '', 'p'),
  ...options('ldapsearch ldapadd ldapmodify ldapdelete ldapcompare ldapwhoami ldapmodrdn', 'w', 'w'),
  ...options('ldappasswd', 'w', 'was'),
  ...options('sqlcmd bcp osql isql tsql', 'P', 'P'),
  ...options('zip unzip zipcloak', 'P', 'P'),
  ...options('7z 7za 7zr 7zz rar unrar', 'p', ''),
  ...options('ipmitool mosquitto_pub mosquitto_sub mosquitto_rr', '', 'P'),
  ...options('rdesktop evil-winrm crackmapexec netexec nxc hydra smbmap rclone psexec useradd usermod', '', 'p'),
  ...options('openssl', '', 'kK'),
  ...options('snmpget snmpset snmpwalk snmpbulkwalk', '', 'AXc'),
  ...options('lftp ncftp', '', '', 'u,'),
  ...options('smbclient rpcclient smbget smbtree', '', '', 'U%'),
  ...options('http https xh xhs', '', '', 'a:'),
  ...options('twine', '', 'p'),
  ...options('influx doctl', '', 't'),
  ...options('choco nuget', '', 'k'),
  ...options('curl', '', '', 'U:'),
  // docker, podman, helm, oc, az and others
  ...options('login', '', 'p'),
])

/** The longest name of a program. */
export const MAX_COMMAND = 16

/** The programs whose options are known. */
export const commands: readonly string[] = [...COMMANDS.keys()]

/** What the program, with or without its folder, takes as a password. */
export const passwordOptions = (program: string): PasswordOptions | undefined =>
  COMMANDS.get(program.slice(program.lastIndexOf('/') + 1).replace(/\.exe$/i, ''))
