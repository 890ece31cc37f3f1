import { jsonObjectOf } from '#lib/json'
import { Failure, type Message } from './message.ts'
import { PNG } from './samples.ts'
import type { TestServer } from './server.ts'
import { type Arguments, type Content, stringOf } from './tool.ts'

/** What a client has set in its session. */
interface SessionState {
  readonly server: TestServer
  level: string
  readonly watched: Set<string>
  capabilities: Readonly<Record<string, unknown>>
}

type Contents = Readonly<Record<string, string>>

/** Answer to `resources/list`. */
const resources = [
  { uri: 'test://static-text', name: 'static-text', description: 'A text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', description: 'An image', mimeType: 'image/png' },
  {
    uri: 'test://watched-resource',
    name: 'watched-resource',
    description: 'Can be subscribed to',
    mimeType: 'text/plain',
  },
]

/** Answer to `resources/templates/list`. */
const templates = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    description: 'Data for an id',
    mimeType: 'application/json',
  },
]

const known = new Map<string, Contents>([
  ['test://static-text', { mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  ['test://static-binary', { mimeType: 'image/png', blob: PNG }],
  ['test://watched-resource', { mimeType: 'text/plain', text: 'Watched resource content.' }],
])

/** The contents of a resource; undefined if there is none. */
const readResource = (uri: string): readonly Contents[] | undefined => {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  const contents =
    id === undefined
      ? known.get(uri)
      : {
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        }
  return contents === undefined ? undefined : [{ uri, ...contents }]
}

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** Revisions of MCP that the test server speaks. */
export const speaks = (version: string): boolean => VERSIONS.includes(version)

export const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** Checks the name of a level. Throws a Failure. */
const levelOf = ({ params: { level } }: Message): string => {
  if (typeof level === 'string' && levels.includes(level)) return level
  throw new Failure(-32602, `The level is one of ${levels.join(', ')}.`)
}

const uriOf = ({ params: { uri } }: Message): string => {
  if (typeof uri === 'string') return uri
  throw new Failure(-32602, 'uri must be a string.')
}

/** The answer to each request but `tools/call`. Throws a Failure. */
export const methods: Readonly<Record<string, (message: Message, session: SessionState) => object>> = {
  initialize({ params: { protocolVersion, capabilities } }, session) {
    session.capabilities = jsonObjectOf(capabilities)
    return {
      protocolVersion: speaks(String(protocolVersion)) ? protocolVersion : VERSIONS[0],
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      serverInfo: { name: 'guard-test-server', version: '1.0.0' },
      instructions: 'Everything here is made up.',
    }
  },
  ping: () => ({}),
  'logging/setLevel'(message, session) {
    session.level = levelOf(message)
    return {}
  },
  'tools/list'({ params: { cursor } }, { server }) {
    const page = server.page(cursor === undefined ? undefined : String(cursor))
    if (page === undefined) throw new Failure(-32602, 'There is no page at this cursor.')
    return page
  },
  'resources/list': () => ({ resources }),
  'resources/templates/list': () => ({ resourceTemplates: templates }),
  'resources/read'(message) {
    const contents = readResource(uriOf(message))
    if (contents === undefined) throw new Failure(-32002, 'There is no such resource.')
    return { contents }
  },
  'resources/subscribe'(message, session) {
    session.watched.add(uriOf(message))
    return {}
  },
  'resources/unsubscribe'(message, session) {
    session.watched.delete(uriOf(message))
    return {}
  },
  'prompts/list': () => ({ prompts }),
  'prompts/get'({ params }) {
    const messages = promptMessages(String(params.name), jsonObjectOf(params.arguments))
    if (messages === undefined) throw new Failure(-32602, 'There is no such prompt.')
    return { messages }
  },
  'completion/complete'({ params: { argument } }) {
    const begun = String(jsonObjectOf(argument).value ?? '')
    const values = ['paris', 'park', 'party', 'test'].filter((word) => word.startsWith(begun))
    return { completion: { values, total: values.length, hasMore: false } }
  },
}

interface Prompt {
  readonly description: string
  readonly args: readonly string[]
  say(args: Arguments): readonly Content[]
}

const words = (text: string): Content => ({ type: 'text', text })

const knownPrompts = new Map<string, Prompt>([
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
const prompts = [...knownPrompts].map(([name, { description, args }]) => ({
  name,
  description,
  arguments: args.map((arg) => ({ name: arg, description: `The ${arg}`, required: true })),
}))

/** The messages of a prompt; undefined if there is none. */
const promptMessages = (name: string, args: Arguments): readonly object[] | undefined =>
  knownPrompts
    .get(name)
    ?.say(args)
    .map((content) => ({ role: 'user', content }))
