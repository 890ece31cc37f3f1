import { HEX, skipBlanks } from './alphabet.ts'
import type { Hit } from './hit.ts'
import type { Scan } from './scan.ts'

/** The longest label between the dashes of a PEM line. */
const MAX_LABEL = 64
const CLOSING = ['"', "'", '`', '<'] as const

/** Where a block without an end stops: at a quote or tag around it, else with the text. */
const openEnd = (scan: Scan, from: number): number => {
  let end = scan.text.length
  for (const sign of CLOSING) {
    const at = scan.indexOf(sign, from)
    if (at !== -1 && at < end) end = at
  }
  return end
}

/** `-----BEGIN … PRIVATE KEY …-----` up to its END line: PEM, OpenSSH, PGP and SSH2 blocks, on lines of their own or not. */
export const pemKey = (scan: Scan, at: number): Hit | undefined => {
  const { text } = scan
  if (text.charCodeAt(at + 1) !== 0x2d || !text.startsWith('----', at) || text.charCodeAt(at - 1) === 0x2d)
    return undefined
  const label = text.slice(at, at + MAX_LABEL + 16)
  if (!/^-{4,5} ?BEGIN [A-Z0-9 ]{0,48}PRIVATE KEY/.test(label)) return undefined
  const body = at + label.indexOf('PRIVATE KEY')
  const found = scan.indexOf('--- END ', body)
  const plain = scan.indexOf('---END ', body)
  const last = found === -1 ? plain : plain === -1 ? found : Math.min(found, plain)
  if (last === -1) return { start: at, end: openEnd(scan, body), kind: 'private-key' }
  const close = scan.text.indexOf('----', last + 8)
  if (close === -1 || close - last > MAX_LABEL + 16) return { start: at, end: openEnd(scan, last), kind: 'private-key' }
  let end = close
  while (text.charCodeAt(end) === 0x2d) end++
  return { start: at, end, kind: 'private-key' }
}

/** A PuTTY key file from its first line up to its MAC. */
export const puttyKey = (scan: Scan, at: number): Hit | undefined => {
  const head = 'PuTTY-User-Key-File-'
  if (!scan.text.startsWith(head, at)) return undefined
  const body = at + head.length
  const mac = scan.indexOf('Private-MAC:', body)
  const end = mac === -1 ? openEnd(scan, body) : scan.runEnd(skipBlanks(scan.text, mac + 12), HEX)
  return { start: at, end, kind: 'private-key' }
}
