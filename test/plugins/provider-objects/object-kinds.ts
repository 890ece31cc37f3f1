const input = (part: object) => ({ model: 'm-1', input: [{ role: 'user', content: [part] }] })
export const message = (part: object) => ({
  model: 'm-1',
  max_tokens: 9,
  messages: [{ role: 'user', content: [part] }],
})
const tool = (part: object) => ({ model: 'm-1', input: 'go', tools: [part] })

/** What a team creates, and how the other one could reach it: a body for a path, or a path. */
export interface Kind {
  readonly create: readonly [path: string, body: object]
  readonly id: (made: Record<string, unknown>) => string
  readonly bodies: readonly (readonly [path: string, body: (id: string) => object])[]
  readonly paths: readonly (readonly [method: string, path: (id: string) => string])[]
}

const byId = ({ id }: Record<string, unknown>) => String(id)
const outputOf = (made: Record<string, unknown>) => String((made.output as { container_id: string }[])[0]?.container_id)
const at = (folder: string): Kind['paths'] => [
  ['GET', (id) => `${folder}/${id}`],
  ['DELETE', (id) => `${folder}/${id}`],
  ['GET', (id) => `${folder}/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`],
]

const inBodies = (name: string): Kind['bodies'] => [
  ['/v1/responses', (id) => ({ model: 'm-1', input: 'go', [name]: id })],
  ['/v1/responses/input_tokens', (id) => ({ model: 'm-1', input: 'go', [name]: id })],
]

export const kinds: Readonly<Record<string, Kind>> = {
  response: {
    create: ['/v1/responses', { model: 'm-1', input: 'a secret', store: true }],
    id: byId,
    bodies: [
      ...inBodies('previous_response_id'),
      ['/v1/responses/compact', (id) => ({ model: 'm-1', previous_response_id: id })],
    ],
    paths: [
      ...at('/v1/responses'),
      ['POST', (id) => `/v1/responses/${id}/cancel`],
      ['GET', (id) => `/v1/responses/${id}/input_items`],
    ],
  },
  'conversation created': {
    create: ['/v1/conversations', {}],
    id: byId,
    bodies: [
      ...inBodies('conversation'),
      ['/v1/responses', (id) => ({ model: 'm-1', input: 'go', conversation: { id } })],
    ],
    paths: [
      ...at('/v1/conversations'),
      ['POST', (id) => `/v1/conversations/${id}`],
      ['GET', (id) => `/v1/conversations/${id}/items`],
      ['POST', (id) => `/v1/conversations/${id}/items`],
      ['GET', (id) => `/v1/conversations/${id}/items/msg_1`],
    ],
  },
  'conversation of a response': {
    create: ['/v1/responses', { model: 'm-1', input: 'begin', new_conversation: true }],
    id: ({ conversation }) => String((conversation as { id: string }).id),
    bodies: inBodies('conversation'),
    paths: at('/v1/conversations'),
  },
  file: {
    create: ['/v1/files', { purpose: 'user_data' }],
    id: byId,
    bodies: [
      ['/v1/responses', (file_id) => input({ type: 'input_file', file_id })],
      ['/v1/responses', (file_id) => input({ type: 'input_image', file_id })],
      ['/v1/responses', (id) => tool({ type: 'code_interpreter', container: { type: 'auto', file_ids: [id] } })],
      ['/v1/chat/completions', (file_id) => message({ type: 'file', file: { file_id } })],
      ['/v1/messages', (file_id) => message({ type: 'document', source: { type: 'file', file_id } })],
      ['/v1/messages/count_tokens', (file_id) => message({ type: 'document', source: { type: 'file', file_id } })],
      ['/v1/batches', (input_file_id) => ({ input_file_id, endpoint: '/v1/responses', completion_window: '24h' })],
      ['/v1/fine_tuning/jobs', (training_file) => ({ training_file, model: 'm-1' })],
      [
        '/v1beta/models/g:generateContent',
        (id) => ({
          contents: [{ role: 'user', parts: [{ fileData: { fileUri: `https://files.example/v1beta/files/${id}` } }] }],
        }),
      ],
      ['/v1/batches', (id) => ({ batch: { inputConfig: { fileName: `files/${id}` } } })],
      ['/v1/evals', (id) => ({ data_source: { type: 'jsonl', source: { type: 'file_id', id } } })],
      [
        '/v1/messages/batches',
        (file_id) => ({
          requests: [{ custom_id: 'a', params: message({ type: 'document', source: { type: 'file', file_id } }) }],
        }),
      ],
    ],
    paths: [
      ...at('/v1/files'),
      ...['content', 'x'].map((rest) => ['GET', (id: string) => `/v1/files/${id}/${rest}`] as const),
      ['GET', (id) => `/v1/files/${id}.`],
      ['GET', (id) => `/v1/files/${id}%20`],
      ['GET', (id) => `/v1/Files/${id}`],
    ],
  },
  batch: {
    create: ['/v1/batches', { input_file_id: 'file-unseen' }],
    id: byId,
    bodies: [],
    paths: [...at('/v1/batches'), ['POST', (id) => `/v1/batches/${id}/cancel`]],
  },
  'message batch': {
    create: ['/v1/messages/batches', { requests: [] }],
    id: byId,
    bodies: [],
    paths: [...at('/v1/messages/batches'), ['GET', (id) => `/v1/messages/batches/${id}/results`]],
  },
  container: {
    create: ['/v1/containers', { name: 'mine' }],
    id: byId,
    bodies: [
      ['/v1/responses', (container) => tool({ type: 'code_interpreter', container })],
      ['/v1/messages', (container) => ({ ...message({ type: 'text', text: 'go' }), container })],
      ['/v1/messages', (id) => ({ ...message({ type: 'text', text: 'go' }), container: { id, skills: [] } })],
    ],
    paths: [...at('/v1/containers'), ['GET', (id) => `/v1/containers/${id}/files/cfile_1/content`]],
  },
  'container of a response': {
    create: ['/v1/responses', { model: 'm-1', input: 'run' }],
    id: outputOf,
    bodies: [['/v1/responses', (container) => tool({ type: 'code_interpreter', container })]],
    paths: at('/v1/containers'),
  },
  'item of a response': {
    create: ['/v1/responses', { model: 'm-1', input: 'run' }],
    id: (made) => String((made.output as { id: string }[])[0]?.id),
    bodies: [['/v1/responses', (id) => ({ model: 'm-1', input: [{ type: 'item_reference', id }] })]],
    paths: [],
  },
  'container of a message': {
    create: ['/v1/messages', message({ type: 'text', text: 'run' })],
    id: ({ container }) => String((container as { id: string }).id),
    bodies: [['/v1/messages', (container) => ({ ...message({ type: 'text', text: 'go' }), container })]],
    paths: [],
  },
  'vector store': {
    create: ['/v1/vector_stores', { name: 'mine' }],
    id: byId,
    bodies: [['/v1/responses', (id) => tool({ type: 'file_search', vector_store_ids: [id] })]],
    paths: [
      ...at('/v1/vector_stores'),
      ['GET', (id) => `/v1/vector_stores/${id}/files`],
      ['POST', (id) => `/v1/vector_stores/${id}/search`],
    ],
  },
  eval: {
    create: ['/v1/evals', {}],
    id: byId,
    bodies: [],
    paths: [...at('/v1/evals'), ['GET', (id) => `/v1/evals/${id}/runs`]],
  },
  'fine-tuning job': {
    create: ['/v1/fine_tuning/jobs', {}],
    id: byId,
    bodies: [],
    paths: [...at('/v1/fine_tuning/jobs'), ['GET', (id) => `/v1/fine_tuning/jobs/${id}/events`]],
  },
  prompt: {
    create: ['/v1/prompts', {}],
    id: byId,
    bodies: [['/v1/responses', (id) => ({ model: 'm-1', input: 'go', prompt: { id, version: '1' } })]],
    paths: at('/v1/prompts'),
  },
  'cached content': {
    create: ['/v1beta/cachedContents', { model: 'models/g' }],
    id: ({ name }) => String(name).split('/').at(-1) ?? '',
    bodies: [
      ['/v1beta/models/g:generateContent', (id) => ({ contents: [], cachedContent: `cachedContents/${id}` })],
      ['/v1beta/models/g:generateContent', (id) => ({ contents: [], cached_content: `cachedContents/${id}` })],
      ['/v1beta/models/g:countTokens', (id) => ({ generateContentRequest: { cachedContent: `cachedContents/${id}` } })],
    ],
    paths: [...at('/v1beta/cachedContents'), ['PATCH', (id) => `/v1beta/cachedContents/${id}`]],
  },
  completion: {
    create: ['/v1/chat/completions', { ...message({ type: 'text', text: 'keep' }), store: true }],
    id: byId,
    bodies: [],
    paths: [
      ['GET', (id) => `/v1/chat/completions/${id}`],
      ['GET', (id) => `/v1/chat/completions/${id}/messages`],
    ],
  },
}
