import { isJsonObject } from 'guard-gateway/lib/json'

/** The definition of a tool as JSON, read back from the lines that are stored of it; a member that is not there to its end is left out. */
export const storedDefinition = (text: string): string => {
  const members = new Map<string, string[]>()
  let lines: string[] = []
  for (const line of text.split('\n')) {
    const [, key, first] = /^([A-Za-z_]+): ?(.*)$/s.exec(line) ?? []
    if (line.startsWith('  ')) lines.push(line.slice(2))
    else if (key !== undefined && first !== undefined) {
      lines = [first]
      members.set(key, lines)
    } else lines = []
  }
  const texts = ['title', 'description'].flatMap((key) => {
    const said = members.get(key)?.join('\n')
    return said === undefined ? [] : [[key, said] as const]
  })
  const objects = ['inputSchema', 'annotations'].flatMap((key) => {
    const value = objectOf(members.get(key)?.join('\n') ?? '')
    return value === undefined ? [] : [[key, value] as const]
  })
  return JSON.stringify(Object.fromEntries([...texts, ...objects]))
}

const objectOf = (json: string): unknown => {
  try {
    const value: unknown = JSON.parse(json)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
