import { totalled } from 'guard-gateway/core'

// a provider's own dialect: the model is in the path, replies are lines of JSON, and nothing of guard-gateway/lib is used
const nothing = {
  usage: null,
  output_bytes: 0,
  model: null,
  response_id: null,
  finish_reason: null,
  calls: [],
  error: null,
}

class LineMeter {
  text = ''
  push(chunk) {
    this.text += Buffer.from(chunk).toString()
  }
  end() {
    const lines = this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
    const last = lines.at(-1) ?? {}
    const said = lines.map(({ say = '' }) => say).join('')
    const usage = totalled({ input_tokens: last.in, output_tokens: last.out })
    return {
      ...nothing,
      output_bytes: Buffer.byteLength(said),
      usage: last.done === true ? usage : null,
      complete: last.done === true,
    }
  }
}

const style = {
  id: 'parley',
  paths: ['/parley/{model}/talk'],
  list: 'turns',
  json_stream: true,
  envelope: (members, { params }) => ({
    model: params.model,
    stream: members.whole !== true,
    max_tokens: members.most ?? null,
    temperature: null,
    before: [],
    after: [],
    tools: undefined,
    tool_choice: undefined,
    previous_response_id: null,
    conversation: null,
    hints: {},
  }),
  parts: ({ by, say }) => [{ kind: by === 'me' ? 'user' : 'text', text: String(say) }],
  meter: () => new LineMeter(),
  refusal: ({ code, message }) => ({ sorry: message, why: code }),
}

export const parley = { name: 'parley', apply: (gateway) => gateway.apiStyles.add(style) }
