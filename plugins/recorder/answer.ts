/**
 * The answer's text in the first bytes of a reply, whole JSON or event stream, in any of the known dialects.
 * Only members that are known to hold answer text are read, so that reasoning and encrypted content cannot get in. Empty if there is none.
 */
export const answerText = (head: Uint8Array): string => {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString()
  const whole = text.startsWith('{') ? parsed(text) : undefined
  if (whole !== undefined) return wholeText(whole)
  let answer = ''
  for (const line of text.split('\n')) {
    if (line.startsWith('data:')) answer += deltaText(parsed(line.slice(5)))
  }
  return answer
}

/** Undefined where the bytes kept end in the middle of the value. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const wholeText = (body: unknown): string => {
  const texts = [blocksText(member(body, 'content'))]
  for (const choice of elements(member(body, 'choices')))
    texts.push(blocksText(member(member(choice, 'message'), 'content')))
  for (const item of elements(member(body, 'output'))) {
    if (member(item, 'type') === 'message') texts.push(blocksText(member(item, 'content')))
  }
  return texts.filter((text) => text !== '').join('\n')
}

/** Content that is plain text, or blocks some of which are text. */
const blocksText = (content: unknown): string => {
  if (typeof content === 'string') return content
  return elements(content)
    .filter((block) => TEXT_BLOCKS.has(member(block, 'type')))
    .map((block) => string(member(block, 'text')))
    .join('\n')
}
const TEXT_BLOCKS = new Set<unknown>(['text', 'output_text'])

const deltaText = (event: unknown): string => {
  const type = member(event, 'type')
  const delta = member(event, 'delta')
  if (type === 'response.output_text.delta') return string(delta)
  if (type === 'content_block_delta') return member(delta, 'type') === 'text_delta' ? string(member(delta, 'text')) : ''
  return elements(member(event, 'choices'))
    .map((choice) => string(member(member(choice, 'delta'), 'content')))
    .join('')
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
const elements = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const string = (value: unknown): string => (typeof value === 'string' ? value : '')
