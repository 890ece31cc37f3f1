import type { Placed } from './description.ts'

const JSON_TYPE = 'application/json'

/** A command that asks for this; `$GUARD` is the gateway's address, and what stands in braces is to be filled in. */
export const exampleCommand = ({ method, path, operation }: Placed): string => {
  const lines = [`curl ${methodOption(method)}"$GUARD${path}"`]
  if (operation.security !== undefined) lines.push(`-H "authorization: Bearer $(guard key print)"`)
  const media = operation.requestBody?.content ?? {}
  const [type = JSON_TYPE] = JSON_TYPE in media ? [JSON_TYPE] : Object.keys(media)
  if (Object.keys(media).length > 0) {
    lines.push(`-H 'content-type: ${type}'`)
    const { example } = media[type] ?? {}
    lines.push(example === undefined ? "-d '{}'" : `-d '${JSON.stringify(example)}'`)
  }
  return lines.join(' \\\n  ')
}

const methodOption = (method: string): string => (method === 'GET' ? '' : method === 'HEAD' ? '-I ' : `-X ${method} `)
