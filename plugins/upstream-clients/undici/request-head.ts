import type { UpstreamRequest } from 'guard-gateway/lib/upstream-client'

const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/**
 * The head of a request, with the `content-length` and `connection` that the caller left out behind the rest. Throws TypeError for a
 * length that is not the body's; undici refuses the rest of what HTTP forbids.
 */
export const requestHead = ({ method, path, headers, body }: UpstreamRequest): string => {
  const length = body?.length ?? 0
  let text = `${method} ${path} HTTP/1.1\r\n`
  let given: string | undefined
  let connection = 'Connection: keep-alive\r\n'
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    if (isNamed(name, 'content-length')) given = value
    else if (isNamed(name, 'connection')) connection = ''
    text += `${name}: ${value}\r\n`
  }
  if (given !== undefined && Number(given) !== length)
    throw new TypeError('content-length is not the length of the body')
  return `${text}${given === undefined ? lengthLine(method, length) : ''}${connection}\r\n`
}

const lengthLine = (method: string, length: number): string =>
  length > 0 || !BODILESS.has(method) ? `Content-Length: ${length}\r\n` : ''

const isNamed = (name: string, other: string): boolean => name.length === other.length && name.toLowerCase() === other
