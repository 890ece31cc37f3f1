import { programName } from './program.ts'

/** Programs without hidden effects. Their options are all known here. */
const PLAIN = new Set(
  `ls dir vdir cat tac nl head tail wc cut tr sort uniq comm paste join fold fmt expand unexpand column rev grep egrep fgrep rg ag ack
  diff cmp echo printf pwd cd whoami id groups who w date cal uname hostname arch nproc uptime which type true false test [ : basename
  dirname realpath readlink stat file du df free ps pgrep tree find sed awk jq xxd od hexdump strings md5sum sha1sum sha224sum sha256sum
  sha384sum sha512sum shasum cksum b2sum base64 base32 seq sleep mkdir rmdir touch cp mv rm ln chmod chown git curl wget man lsof
  printenv locale tty getconf sync zcat zgrep bzcat xzcat`.split(/\s+/),
)

/** True if further words of a program have no hidden effects. */
export const isSimpleProgram = (word: string): boolean => PLAIN.has(programName(word))
