import { object, type Running, stringOf, type TestTool, type ToolResult, text } from '../tool.ts'

const elicit = async (
  running: Running,
  label: string,
  message: string,
  requestedSchema: object,
): Promise<ToolResult> => {
  const { action, content } = await running.ask('elicitation', 'elicitation/create', { message, requestedSchema })
  return text(`${label}: action=${String(action)}, content=${JSON.stringify(content ?? {})}`)
}

const enumOf = (...values: readonly string[]) => ({ type: 'string', enum: values })
const titled = (word: string) =>
  ['First', 'Second', 'Third'].map((nth, index) => ({ const: `value${index + 1}`, title: `${nth} ${word}` }))

/** Tools that send the client a request before they respond. */
export const askingTools: readonly TestTool[] = [
  {
    name: 'test_sampling',
    description: "Lets the client's model answer a prompt",
    inputSchema: object({ prompt: { type: 'string', description: 'What the model is told' } }),
    async call(args, running) {
      const result = await running.ask('sampling', 'sampling/createMessage', {
        messages: [{ role: 'user', content: { type: 'text', text: stringOf(args, 'prompt') } }],
        maxTokens: 100,
      })
      const reply = result.content as { readonly text?: unknown } | undefined
      return text(`LLM response: ${String(reply?.text ?? '')}`)
    },
  },
  {
    name: 'test_elicitation',
    description: 'Asks the user for a name and an address',
    inputSchema: object({ message: { type: 'string', description: 'What the user is shown' } }),
    call: (args, running) =>
      elicit(
        running,
        'User response',
        stringOf(args, 'message'),
        object({
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        }),
      ),
  },
  {
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks the user with a default for each kind of field',
    inputSchema: object(),
    call: (_args, running) =>
      elicit(
        running,
        'Elicitation completed',
        'Please review the defaults.',
        object(
          {
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { ...enumOf('active', 'inactive', 'pending'), default: 'active' },
            verified: { type: 'boolean', default: true },
          },
          [],
        ),
      ),
  },
  {
    name: 'test_elicitation_sep1330_enums',
    description: 'Asks the user with each form of a choice',
    inputSchema: object(),
    call: (_args, running) =>
      elicit(
        running,
        'Elicitation completed',
        'Please choose.',
        object(
          {
            untitledSingle: enumOf('option1', 'option2', 'option3'),
            titledSingle: { type: 'string', oneOf: titled('Option') },
            legacyEnum: {
              ...enumOf('opt1', 'opt2', 'opt3'),
              enumNames: ['Option One', 'Option Two', 'Option Three'],
            },
            untitledMulti: { type: 'array', items: enumOf('option1', 'option2', 'option3') },
            titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
          },
          [],
        ),
      ),
  },
]
