import { gemini } from 'guard-gateway/plugins/api-styles/gemini'
import { apiStyleConforms } from '../../conformance/api-style.ts'

const call = { functionCall: { name: 'read_file', args: { path: 'a.ts' } } }
const request = {
  systemInstruction: { parts: [{ text: 'Be short.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'What is in a.ts?' }, { inlineData: { mimeType: 'image/png', data: 'QUJD' } }] },
    {
      role: 'model',
      parts: [{ text: 'hm', thought: true }, { text: 'Look: ' }, { ...call, thoughtSignature: 'c2ln' }],
    },
    { role: 'user', parts: [{ functionResponse: { name: 'read_file', response: { output: 'const a = 1' } } }] },
    { role: 'model', parts: [{ text: 'A constant.' }] },
    { parts: [{ text: 'And now?' }] },
  ],
  tools: [{ functionDeclarations: [{ name: 'read_file', parameters: { type: 'OBJECT' } }] }],
  generationConfig: { maxOutputTokens: 512, temperature: 0.5 },
}

const usageMetadata = {
  promptTokenCount: 120,
  candidatesTokenCount: 11,
  totalTokenCount: 164,
  cachedContentTokenCount: 100,
  thoughtsTokenCount: 30,
  toolUsePromptTokenCount: 3,
}
const chunk = (parts: readonly object[], more: object = {}, rest: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  modelVersion: 'gemini-2.5-flash',
  responseId: 'r1',
  usageMetadata: { promptTokenCount: 120, totalTokenCount: 120 },
  ...rest,
})
const chunks = [
  chunk([{ text: 'hm', thought: true }]),
  chunk([{ text: 'Look: ' }]),
  chunk([{ ...call, thoughtSignature: 'c2ln' }]),
  chunk([{ text: '' }], { finishReason: 'STOP' }, { usageMetadata }),
]
const events = (ends = '\r\n\r\n') => chunks.map((event) => `data: ${JSON.stringify(event)}${ends}`).join('')
const array = `[${chunks.map((value) => JSON.stringify(value, null, 2)).join('\n,\n')}\n]\n`

const reading = {
  model: 'gemini-2.5-flash',
  response_id: 'r1',
  finish_reason: 'STOP',
  complete: true,
  output_bytes: 2 + 6 + 15,
  calls: [{ id: null, tool: 'read_file', args: { path: 'a.ts' } }],
  usage: {
    input_tokens: 23,
    cache_read_tokens: 100,
    cache_write_tokens: 0,
    cache_write_5m_tokens: 0,
    cache_write_1h_tokens: 0,
    output_tokens: 41,
    reasoning_tokens: 30,
    total_tokens: 164,
  },
}
const model = 'gemini-2.5-flash'
const overloaded = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }

apiStyleConforms(gemini, {
  requests: [request, { ...request, contents: request.contents.slice(0, 1) }],
  addressed: ['v1beta', 'v1', 'v1alpha', 'v1beta1'].flatMap((version) =>
    [false, true].flatMap((stream) => {
      const action = stream ? 'streamGenerateContent' : 'generateContent'
      return [
        { path: `/${version}/models/${model}:${action}`, body: request, model, stream },
        { path: `/${version}/tunedModels/mine-1:${action}`, body: request, model: 'tunedModels/mine-1', stream },
        { path: `/${version}/publishers/google/models/${model}:${action}`, body: request, model, stream },
        {
          path: `/${version}/projects/p-1/locations/europe-west4/publishers/google/models/${model}:${action}`,
          body: request,
          model,
          stream,
        },
      ]
    }),
  ),
  replies: [
    { name: 'events', stream: true, text: events(), reading },
    { name: 'events with line feeds alone', stream: true, text: events('\n\n'), reading },
    { name: 'an array', stream: true, text: array, reading },
    {
      name: 'values on lines',
      stream: true,
      text: chunks.map((value) => `${JSON.stringify(value)}\n`).join(''),
      reading,
    },
    {
      name: 'events that break off',
      stream: true,
      text: events().slice(0, -200),
      reading: { complete: false, finish_reason: null },
    },
    {
      name: 'an array that breaks off',
      stream: true,
      text: array.slice(0, -400),
      reading: { complete: false, finish_reason: null },
    },
    {
      name: 'a whole reply',
      stream: false,
      text: JSON.stringify({
        ...chunk(
          [...chunks.slice(0, 3).flatMap(({ candidates: [one] }) => one?.content.parts ?? [])],
          { finishReason: 'STOP' },
          { usageMetadata },
        ),
      }),
      reading,
    },
    {
      name: 'a prompt that is blocked',
      stream: true,
      text: `data: ${JSON.stringify({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } })}\n\n`,
      reading: { complete: true, finish_reason: 'SAFETY', output_bytes: 0 },
    },
    {
      name: 'an error in a stream',
      stream: true,
      text: `data: ${JSON.stringify(overloaded)}\n\n`,
      reading: { complete: true, error: { type: 'UNAVAILABLE', code: '503', message: 'The model is overloaded.' } },
    },
    {
      name: 'an error in an array',
      status: 503,
      stream: false,
      text: JSON.stringify([overloaded]),
      reading: { error: { type: 'UNAVAILABLE', code: '503', message: 'The model is overloaded.' } },
    },
    {
      name: 'thoughts alone',
      stream: true,
      text: `data: ${JSON.stringify(chunk([{ text: 'hm', thought: true }], { finishReason: 'MAX_TOKENS' }))}\n\n`,
      reading: { wordless: true },
    },
  ],
})
