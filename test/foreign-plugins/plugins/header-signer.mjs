import { createHmac } from 'node:crypto'

/** Options as JavaScript writes them, without a helper. */
export const signer = {
  options: {
    type: 'object',
    properties: { header: { type: 'string', default: 'x-signature' }, secret: { type: 'string', minLength: 8 } },
    required: ['secret'],
  },
  create: ({ header, secret }) => ({
    name: 'header-signer',
    apply({ hooks }) {
      hooks.outbound.tapPromise('header-signer', async (head) => {
        const body = head.body === undefined ? '' : Buffer.from(head.body).toString()
        head.set(header, createHmac('sha256', secret).update(`${head.method} ${head.url} ${body}`).digest('hex'))
      })
      hooks.reply.tap('header-signer', (head) => head.set('x-signed', 'yes'))
    },
  }),
}
