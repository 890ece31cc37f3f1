import { random } from 'guard-gateway/bench'

const firstLines = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 404 Not Found',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Same',
  'HTTP/1.1 100 Continue',
  'HTTP/2.0 200 OK',
]
const lines = [
  'content-length: 5',
  'Content-Length: 11 ',
  'content-length: 5, 5',
  'content-length: 0',
  'transfer-encoding: chunked',
  'Transfer-Encoding: Chunked',
  'transfer-encoding: gzip, chunked',
  'transfer-encoding: identity',
  'connection: close',
  'Connection: keep-alive',
  'keep-alive: timeout=5',
  'content-type: text/event-stream',
  'X-Odd:  a  b  ',
  'x-empty:',
  'x-latin: \xe9',
  ' folded',
  'no colon',
]
const bodies = [
  '',
  'hello',
  'hello world',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nx-sum: 1\r\n\r\n',
  '00005\r\nhello\r\n0\r\n\r\n',
  '5\r\nhello\r\n',
  'hello\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
]
/** What gets into an answer where it does not belong. */
const strays = [
  '\r',
  '\n',
  '\r\n',
  ' ',
  '\t',
  '\0',
  ':',
  ';',
  '=',
  '"',
  '\x7f',
  '\xff',
  '0',
  'f',
  ',',
  'chunked',
  '\r\n ',
  'HTTP/1.1 ',
]

/** Answers of a server as they should be, nearly, and not at all: put together from parts and then damaged, the same for a seed. */
export const answersOf = (seed: number, count: number): readonly string[] => {
  const next = random(seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  const pick = (from: readonly string[]): string => from[below(from.length)] ?? ''
  const damaged = (text: string): string => {
    const at = below(text.length + 1)
    const cut = below(3) === 0 ? below(3) : 0
    return text.slice(0, at) + (below(3) === 0 ? '' : pick(strays)) + text.slice(at + cut)
  }
  return Array.from({ length: count }, () => {
    const head = [pick(firstLines), ...Array.from({ length: below(4) }, () => pick(lines)), '', '']
    let text = head.join('\r\n') + pick(bodies)
    for (let damage = below(4); damage > 0; damage--) text = damaged(text)
    return text
  })
}
