/** Names of raw responses, by the reason for which the two clients differ about them. */
export type Differences = Readonly<Record<string, readonly string[]>>

/** What the thin client refuses although Node's parser reads it. */
export const stricter: Differences = {
  'another version may frame its messages in another way': ['HTTP/2.0', 'HTTP/0.9'],
  'what stands before a status line is left over from an answer before': [
    'an empty line before the status line',
    'a bare LF before the status line',
  ],
  'no number over 2^53 is exact, and no body is that long': [
    'a size of 64 bits',
    'a size over 53 bits',
    'a length over 53 bits',
  ],
  'no status is below 100 (RFC 9110, 15)': ['status 000'],
  'a phrase has no control bytes (RFC 9112, 4)': ['a control byte in the phrase'],
  'the gateway asks for chunks alone, and a body in another coding would pass as something else': [
    'chunks twice',
    'a list of chunks twice',
    'a coding before chunks',
    'a coding after chunks',
    'another coding',
    'a coding like chunked',
    'a coding of identity',
  ],
  'an extension has a name (RFC 9112, 7.1.1)': ['an extension without a name'],
  'a trailer frames nothing (RFC 9110, 6.5.1)': ['a trailer that chunks'],
  'an informational answer has no body (RFC 9110, 15.2)': ['100 with a length', '100 with chunks'],
}

/** What the thin client reads although Node's parser refuses it. */
export const laxer: Differences = {
  'the answer is complete (RFC 9112, 6.3), and what is left over is never read as another: the connection is closed': [
    'more than its length',
    'more after chunks',
    '204 with a body',
    '204 with chunks',
    '304 with a body',
    '304 with chunks',
    'HEAD with a body',
  ],
}
