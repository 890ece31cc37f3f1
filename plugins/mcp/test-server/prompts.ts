import { PNG } from './samples.ts'
import { type Arguments, type Content, stringOf } from './tool.ts'

interface Prompt {
  readonly description: string
  readonly args: readonly string[]
  say(args: Arguments): readonly Content[]
}

const words = (text: string): Content => ({ type: 'text', text })

const known = new Map<string, Prompt>([
  [
    'test_simple_prompt',
    { description: 'Says one text', args: [], say: () => [words('This is a simple prompt for testing.')] },
  ],
  [
    'test_prompt_with_arguments',
    {
      description: 'Says its two arguments',
      args: ['arg1', 'arg2'],
      say: (args) => [
        words(`Prompt with arguments: arg1='${stringOf(args, 'arg1')}', arg2='${stringOf(args, 'arg2')}'`),
      ],
    },
  ],
  [
    'test_prompt_with_embedded_resource',
    {
      description: 'Embeds a resource',
      args: ['resourceUri'],
      say: (args) => [
        {
          type: 'resource',
          resource: {
            uri: stringOf(args, 'resourceUri'),
            mimeType: 'text/plain',
            text: 'Embedded resource content for testing.',
          },
        },
        words('Please process the embedded resource above.'),
      ],
    },
  ],
  [
    'test_prompt_with_image',
    {
      description: 'Shows an image',
      args: [],
      say: () => [{ type: 'image', data: PNG, mimeType: 'image/png' }, words('Please analyze the image above.')],
    },
  ],
])

/** Answer to `prompts/list`. */
export const prompts = [...known].map(([name, { description, args }]) => ({
  name,
  description,
  arguments: args.map((arg) => ({ name: arg, description: `The ${arg}`, required: true })),
}))

/** The messages of a prompt; undefined if there is none. */
export const promptMessages = (name: string, args: Arguments): readonly object[] | undefined =>
  known
    .get(name)
    ?.say(args)
    .map((content) => ({ role: 'user', content }))
