/** Bytes that a server answers with before it closes the connection. */
export interface RawResponse {
  readonly name: string
  readonly bytes: string
  readonly method: 'POST' | 'HEAD'
}

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
const LENGTH_5 = `${OK}content-length: 5\r\n`

const group = (
  responses: Readonly<Record<string, string>>,
  method: RawResponse['method'] = 'POST',
): readonly RawResponse[] => Object.entries(responses).map(([name, bytes]) => ({ name, bytes, method }))

const valid = group({
  'a length': `${LENGTH_5}\r\nhello`,
  'a length of zero': `${OK}content-length: 0\r\n\r\n`,
  'a length with leading zeros': `${OK}content-length: 0005\r\n\r\nhello`,
  'a length with blanks around it': `${OK}content-length: \t 5 \t\r\n\r\nhello`,
  'no length': `${OK}\r\nhello`,
  'no length and no body': `${OK}\r\n`,
  'no phrase': 'HTTP/1.1 200 \r\ncontent-length: 5\r\n\r\nhello',
  'no phrase and no blank': 'HTTP/1.1 200\r\ncontent-length: 5\r\n\r\nhello',
  'a phrase of Latin-1 bytes': 'HTTP/1.1 200 \xe9t\xe9\r\ncontent-length: 5\r\n\r\nhello',
  'status 599': 'HTTP/1.1 599 Odd\r\ncontent-length: 5\r\n\r\nhello',
  'status 999': 'HTTP/1.1 999 Odd\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/1.0 with a length': 'HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/1.0 without a length': 'HTTP/1.0 200 OK\r\n\r\nhello',
  'an empty value': `${LENGTH_5}x-empty:\r\n\r\nhello`,
  'a value of blanks': `${LENGTH_5}x-empty: \t \r\n\r\nhello`,
  'a value with blanks inside': `${LENGTH_5}x-odd:  a \t b \r\n\r\nhello`,
  'a value with colons': `${LENGTH_5}x-url: http://a:1\r\n\r\nhello`,
  'a value of Latin-1 bytes': `${LENGTH_5}x-latin: \xe9\xff\r\n\r\nhello`,
  'a name of every kind of character': `${LENGTH_5}!#$%&'*+-.^_\`|~09Az: a\r\n\r\nhello`,
  'the same header twice': `${LENGTH_5}x-a: 1\r\nX-A: 2\r\n\r\nhello`,
  'names in any case': 'HTTP/1.1 200 OK\r\nCoNtEnT-LeNgTh: 5\r\n\r\nhello',
  'a connection that closes': `${LENGTH_5}connection: close\r\n\r\nhello`,
  'a large header': `${LENGTH_5}x-large: ${'a'.repeat(12_000)}\r\n\r\nhello`,
  'many headers': `${LENGTH_5}${'a: b\r\n'.repeat(1_500)}\r\nhello`,
})

const chunked = group({
  chunks: `${CHUNKED}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`,
  'no chunk but the last': `${CHUNKED}0\r\n\r\n`,
  'a size in hex digits of both cases': `${CHUNKED}a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n`,
  'a size with leading zeros': `${CHUNKED}0005\r\nhello\r\n000\r\n\r\n`,
  'the coding in upper case': `${OK}Transfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'chunk data that looks like chunks': `${CHUNKED}7\r\n0\r\n\r\n0\r\r\n0\r\n\r\n`,
  'an extension': `${CHUNKED}5;a\r\nhello\r\n0\r\n\r\n`,
  'an extension with a value': `${CHUNKED}5;a=b;c=d\r\nhello\r\n0;e\r\n\r\n`,
  'an extension with a quoted value': `${CHUNKED}5;a="b;c \\" d"\r\nhello\r\n0\r\n\r\n`,
  'a trailer': `${CHUNKED}5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n`,
  'two trailers': `${CHUNKED}5\r\nhello\r\n0\r\nx-sum: 1\r\nx-b:\r\n\r\n`,
  'chunks in HTTP/1.0': 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
})

const badChunks = group({
  'a size that is no hex number': `${CHUNKED}5g\r\nhello\r\n0\r\n\r\n`,
  'an empty size': `${CHUNKED}\r\nhello\r\n0\r\n\r\n`,
  'a size with a sign': `${CHUNKED}+5\r\nhello\r\n0\r\n\r\n`,
  'a negative size': `${CHUNKED}-5\r\nhello\r\n0\r\n\r\n`,
  'a size with 0x before it': `${CHUNKED}0x5\r\nhello\r\n0\r\n\r\n`,
  'a blank before a size': `${CHUNKED} 5\r\nhello\r\n0\r\n\r\n`,
  'a blank after a size': `${CHUNKED}5 \r\nhello\r\n0\r\n\r\n`,
  'a size over 64 bits': `${CHUNKED}10000000000000005\r\nhello\r\n0\r\n\r\n`,
  'a size of 64 bits': `${CHUNKED}ffffffffffffffff\r\nhello\r\n0\r\n\r\n`,
  'a size over 53 bits': `${CHUNKED}3fffffffffffff\r\nhello\r\n0\r\n\r\n`,
  'a chunk longer than its size': `${CHUNKED}4\r\nhello\r\n0\r\n\r\n`,
  'a chunk shorter than its size': `${CHUNKED}6\r\nhello\r\n0\r\n\r\n`,
  'a bare LF after a size': `${CHUNKED}5\nhello\r\n0\r\n\r\n`,
  'a bare CR after a size': `${CHUNKED}5\rhello\r\n0\r\n\r\n`,
  'a bare LF after a chunk': `${CHUNKED}5\r\nhello\n0\r\n\r\n`,
  'no line end after a chunk': `${CHUNKED}5\r\nhello0\r\n\r\n`,
  'a bare LF in an extension': `${CHUNKED}5;a\nb\r\nhello\r\n0\r\n\r\n`,
  'a control byte in an extension': `${CHUNKED}5;a\0\r\nhello\r\n0\r\n\r\n`,
  'an extension without a name': `${CHUNKED}5;=b\r\nhello\r\n0\r\n\r\n`,
  'an extension of nothing': `${CHUNKED}5;\r\nhello\r\n0\r\n\r\n`,
  'an open quote in an extension': `${CHUNKED}5;a="b\r\nhello\r\n0\r\n\r\n`,
  'an extension without end': `${CHUNKED}5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
  'many extensions': `${CHUNKED}${`1;${'a'.repeat(4_000)}\r\nx\r\n`.repeat(8)}0\r\n\r\n`,
  'a trailer with a blank before its colon': `${CHUNKED}5\r\nhello\r\n0\r\nx-sum : 1\r\n\r\n`,
  'a trailer without a colon': `${CHUNKED}5\r\nhello\r\n0\r\nx-sum\r\n\r\n`,
  'a trailer with a control byte': `${CHUNKED}5\r\nhello\r\n0\r\nx-sum: \0\r\n\r\n`,
  'a trailer that frames': `${CHUNKED}5\r\nhello\r\n0\r\ncontent-length: 3\r\n\r\n`,
  'a trailer that chunks': `${CHUNKED}5\r\nhello\r\n0\r\ntransfer-encoding: chunked\r\n\r\n`,
  'a folded trailer': `${CHUNKED}5\r\nhello\r\n0\r\nx-sum: 1\r\n 2\r\n\r\n`,
  'trailers without end': `${CHUNKED}5\r\nhello\r\n0\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
  'a bare LF at the end': `${CHUNKED}5\r\nhello\r\n0\r\n\n`,
})

const lengths = group({
  'more than its length': `${LENGTH_5}\r\nhello!`,
  'more after chunks': `${CHUNKED}5\r\nhello\r\n0\r\n\r\n0\r\n\r\n`,
  'another answer after chunks': `${CHUNKED}5\r\nhello\r\n0\r\n\r\n${LENGTH_5}\r\nfalse`,
  'the same length twice': `${LENGTH_5}content-length: 5\r\n\r\nhello`,
  'two lengths': `${LENGTH_5}content-length: 6\r\n\r\nhello!`,
  'a list of lengths': `${OK}content-length: 5, 5\r\n\r\nhello`,
  'a negative length': `${OK}content-length: -5\r\n\r\nhello`,
  'a length with a sign': `${OK}content-length: +5\r\n\r\nhello`,
  'a length in hex': `${OK}content-length: 0x5\r\n\r\nhello`,
  'an empty length': `${OK}content-length:\r\n\r\nhello`,
  'a length with a fraction': `${OK}content-length: 5.0\r\n\r\nhello`,
  'a length with a blank inside': `${OK}content-length: 5 5\r\n\r\nhello`,
  'a length over 64 bits': `${OK}content-length: 18446744073709551621\r\n\r\nhello`,
  'a length over 53 bits': `${OK}content-length: 9007199254740993\r\n\r\nhello`,
  'a length and chunks': `${LENGTH_5}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'chunks and a length': `${OK}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'a length and another coding': `${LENGTH_5}transfer-encoding: gzip\r\n\r\nhello`,
  'chunks twice': `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'a list of chunks twice': `${OK}transfer-encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'a coding before chunks': `${OK}transfer-encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'a coding after chunks': `${OK}transfer-encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'another coding': `${OK}transfer-encoding: gzip\r\n\r\nhello`,
  'a coding like chunked': `${OK}transfer-encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'chunked with a vertical tab': `${OK}transfer-encoding: \x0bchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  'an empty coding': `${OK}transfer-encoding:\r\n\r\nhello`,
  'a coding of identity': `${OK}transfer-encoding: identity\r\n\r\nhello`,
  'a blank before the colon of a length': `${OK}content-length : 5\r\n\r\nhello`,
  'a blank before the colon of a coding': `${OK}transfer-encoding : chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
})

const lines = group({
  'a bare LF after the status line': 'HTTP/1.1 200 OK\ncontent-length: 5\r\n\r\nhello',
  'a bare CR after the status line': 'HTTP/1.1 200 OK\rcontent-length: 5\r\n\r\nhello',
  'a bare LF after a header': `${OK}content-length: 5\n\r\nhello`,
  'a bare LF at the end of the head': `${LENGTH_5}\nhello`,
  'bare LFs everywhere': 'HTTP/1.1 200 OK\ncontent-length: 5\n\nhello',
  'a bare CR in a value': `${LENGTH_5}x-a: b\rc\r\n\r\nhello`,
  'a bare CR at the end of the head': `${LENGTH_5}\rhello`,
  'a folded header': `${LENGTH_5}x-a: b\r\n c\r\n\r\nhello`,
  'a folded length': `${OK}content-length:\r\n 5\r\n\r\nhello`,
  'a folded first header': `${OK} x-a: b\r\ncontent-length: 5\r\n\r\nhello`,
  'a blank before the colon': `${LENGTH_5}x-a : b\r\n\r\nhello`,
  'a tab before the colon': `${LENGTH_5}x-a\t: b\r\n\r\nhello`,
  'a blank inside a name': `${LENGTH_5}x a: b\r\n\r\nhello`,
  'no name': `${LENGTH_5}: b\r\n\r\nhello`,
  'no colon': `${LENGTH_5}x-a\r\n\r\nhello`,
  'a Latin-1 byte in a name': `${LENGTH_5}x-\xe9: b\r\n\r\nhello`,
  'a NUL in a name': `${LENGTH_5}x-\0: b\r\n\r\nhello`,
  'a NUL in a value': `${LENGTH_5}x-a: b\0c\r\n\r\nhello`,
  'a control byte in a value': `${LENGTH_5}x-a: b\x07c\r\n\r\nhello`,
  'DEL in a value': `${LENGTH_5}x-a: b\x7fc\r\n\r\nhello`,
  'a head over the limit': `${LENGTH_5}x-large: ${'a'.repeat(20_000)}\r\n\r\nhello`,
  'a head without end': `${LENGTH_5}x-large: ${'a'.repeat(20_000)}`,
})

const statusLines = group({
  'another protocol': 'SSH-2.0-OpenSSH\r\n\r\n',
  'a body alone': '{"error":"nothing"}',
  'a request': 'GET / HTTP/1.1\r\n\r\n',
  'a blank before the status line': ` ${LENGTH_5}\r\nhello`,
  'an empty line before the status line': `\r\n${LENGTH_5}\r\nhello`,
  'a bare LF before the status line': `\n${LENGTH_5}\r\nhello`,
  'HTTP/2.0': 'HTTP/2.0 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/1.2': 'HTTP/1.2 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/0.9': 'HTTP/0.9 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/1.10': 'HTTP/1.10 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'http/1.1 in lower case': 'http/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'two blanks before the status': 'HTTP/1.1  200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'a tab before the status': 'HTTP/1.1\t200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'a status of two digits': 'HTTP/1.1 20 OK\r\ncontent-length: 5\r\n\r\nhello',
  'a status of four digits': 'HTTP/1.1 2000 OK\r\ncontent-length: 5\r\n\r\nhello',
  'a status that is no number': 'HTTP/1.1 2x0 OK\r\ncontent-length: 5\r\n\r\nhello',
  'status 000': 'HTTP/1.1 000 OK\r\ncontent-length: 5\r\n\r\nhello',
  'a control byte in the phrase': 'HTTP/1.1 200 O\x01K\r\ncontent-length: 5\r\n\r\nhello',
})

const bodiless = [
  ...group({
    '204 with a body': `HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello`,
    '204 with chunks': `HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    '204 without headers': 'HTTP/1.1 204 No Content\r\n\r\n',
    '205 with a length': `HTTP/1.1 205 Reset\r\ncontent-length: 5\r\n\r\nhello`,
    '304 with a length and no body': 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n',
    '304 with a body': 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\nhello',
    '304 with chunks': 'HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  }),
  ...group(
    {
      'HEAD with a length': `${LENGTH_5}\r\n`,
      'HEAD with a body': `${LENGTH_5}\r\nhello`,
      'HEAD with chunks': CHUNKED,
      'HEAD with no length': `${OK}\r\n`,
    },
    'HEAD',
  ),
]

const informational = group({
  '100 before the answer': `HTTP/1.1 100 Continue\r\n\r\n${LENGTH_5}\r\nhello`,
  '102 before the answer': `HTTP/1.1 102 Processing\r\n\r\n${LENGTH_5}\r\nhello`,
  '103 with headers': `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${LENGTH_5}\r\nhello`,
  'several informational answers': `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(5)}${LENGTH_5}\r\nhello`,
  'informational answers alone': 'HTTP/1.1 100 Continue\r\n\r\n',
  '100 with a length': `HTTP/1.1 100 Continue\r\ncontent-length: 5\r\n\r\n${LENGTH_5}\r\nhello`,
  '100 with chunks': `HTTP/1.1 100 Continue\r\ntransfer-encoding: chunked\r\n\r\n${LENGTH_5}\r\nhello`,
  '101 that nobody asked for': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello',
  '199 before the answer': `HTTP/1.1 199 Odd\r\n\r\n${LENGTH_5}\r\nhello`,
})

const truncated = group({
  nothing: '',
  'half a status line': 'HTTP/1.1 20',
  'half a head': `${LENGTH_5}x-a: b`,
  'a head without its empty line': LENGTH_5,
  'half a body': `${LENGTH_5}\r\nhel`,
  'no body': `${LENGTH_5}\r\n`,
  'half a chunk': `${CHUNKED}5\r\nhel`,
  'no last chunk': `${CHUNKED}5\r\nhello\r\n`,
  'half a size line': `${CHUNKED}5\r\nhello\r\n0`,
  'half a trailer': `${CHUNKED}5\r\nhello\r\n0\r\nx-sum: 1`,
  'no empty line after the last chunk': `${CHUNKED}5\r\nhello\r\n0\r\n`,
})

/** Answers as they should be, odd ones and hostile ones. */
export const rawResponses: readonly RawResponse[] = [
  ...valid,
  ...chunked,
  ...badChunks,
  ...lengths,
  ...lines,
  ...statusLines,
  ...bodiless,
  ...informational,
  ...truncated,
]
