import aws4 from 'aws4'
import type { OutboundHead } from 'guard-gateway/core'
import { Type } from 'guard-gateway/lib/json'
import { configurable } from 'guard-gateway/lib/plugin-options'

const text = (description: string) => Type.String({ minLength: 1, description })

/** Options, as `guard-config.yml` gives them by `with`. */
const schema = Type.Object({
  upstream: Type.String({ default: '', description: 'sign for this upstream alone; empty: for all' }),
  region: text('as eu-central-1'),
  service: Type.String({ default: 'bedrock', description: 'as the provider calls it' }),
  access_key_id: text('of the account'),
  secret_access_key: text('its secret'),
  session_token: Type.String({ default: '', writeOnly: true, description: 'of a temporary account' }),
})

/** Signs each try at an upstream by AWS Signature Version 4, with the address and the bytes that are sent. */
export const signer = configurable(schema, (options) => ({
  name: options.upstream === '' ? 'signer' : `signer/${options.upstream}`,
  apply({ hooks, clock }) {
    hooks.outbound.tap('signer', (head) => {
      if (options.upstream !== '' && options.upstream !== head.upstream) return
      head.set('x-amz-date', new Date(clock.now()).toISOString().replace(/[:-]|\.\d+/g, ''))
      if (options.session_token !== '') head.set('x-amz-security-token', options.session_token)
      head.set('authorization', authorization(head, options))
    })
  },
}))

interface Account {
  readonly region: string
  readonly service: string
  readonly access_key_id: string
  readonly secret_access_key: string
}

/** Of the headers that no hop changes, of the path as it is sent, and of every byte of the body. */
const authorization = (head: OutboundHead, { region, service, access_key_id, secret_access_key }: Account): string => {
  const { host, pathname, search } = new URL(head.url)
  const named = ['host', 'content-type', 'x-amz-date', 'x-amz-security-token']
  const headers = Object.fromEntries(named.flatMap((name) => (head.get(name) ? [[name, head.get(name)]] : [])))
  const body = head.body === undefined ? '' : Buffer.from(head.body)
  const request = { method: head.method, host, path: pathname + search, headers, body, region, service }
  const signed = aws4.sign(request, { accessKeyId: access_key_id, secretAccessKey: secret_access_key })
  return String(signed.headers?.Authorization)
}
