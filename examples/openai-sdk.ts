import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: 'http://127.0.0.1:8787/v1',
  apiKey: process.env.GUARD_GATEWAY_KEY,
  defaultHeaders: { 'x-guard-session-id': 'my-second-session' },
})

const reply = await client.chat.completions.create({
  model: 'gpt-5.4',
  messages: [{ role: 'user', content: 'Say hello.' }],
})
console.log(reply.choices[0]?.message.content)
