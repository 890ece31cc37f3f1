/** The work that every sender is recorded at. Texts that a person, a model or a tool says begin with CANARY. */
export const SYSTEM = 'CANARYsystem: you are careful'
export const PROMPT = 'CANARYprompt: read notes.txt and say what is in it'
export const RESULT = 'CANARYresult of the tool'
export const DESCRIPTION = 'CANARYdescription reads a file'
export const MODEL = 'gpt-5.4'
export const CLAUDE = 'claude-sonnet-5'
export const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }

/** The tool; it fails where told so. */
export const readFile = async (_args, fails = false) => {
  if (fails) throw new Error('no such file')
  return RESULT
}

/** Chat Completions by the openai package: a call, the tool, a call with its result, a call that fails. */
export const chatWork = async (client, tool = readFile) => {
  const tools = [{ type: 'function', function: { name: 'read_file', description: DESCRIPTION, parameters } }]
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: PROMPT },
  ]
  const ask = (model = MODEL) => client.chat.completions.create({ model, messages, tools })
  const { choices } = await ask()
  const reply = choices[0].message
  messages.push(reply)
  for (const call of reply.tool_calls)
    messages.push({ role: 'tool', tool_call_id: call.id, content: await tool(JSON.parse(call.function.arguments)) })
  await ask()
  await ask('gone-1').catch(() => {})
}

/** The same by the Anthropic package. */
export const messagesWork = async (client, tool = readFile) => {
  const tools = [{ name: 'read_file', description: DESCRIPTION, input_schema: parameters }]
  const messages = [{ role: 'user', content: PROMPT }]
  const ask = (model = CLAUDE) => client.messages.create({ model, max_tokens: 500, system: SYSTEM, messages, tools })
  const { content } = await ask()
  messages.push({ role: 'assistant', content })
  const uses = content.filter(({ type }) => type === 'tool_use')
  const results = []
  for (const { id, input } of uses) results.push({ type: 'tool_result', tool_use_id: id, content: await tool(input) })
  messages.push({ role: 'user', content: results })
  await ask()
  await ask('gone-1').catch(() => {})
}
