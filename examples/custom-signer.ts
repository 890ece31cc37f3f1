import { createHash, createHmac } from 'node:crypto'
import type { OutboundHead } from 'guard-gateway/core'
import { configurable } from 'guard-gateway/lib/plugin-options'
import { Type } from 'typebox'

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

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Uint8Array, data: string): Buffer => createHmac('sha256', key).update(data).digest()

const authorization = (head: OutboundHead, { region, service, access_key_id, secret_access_key }: Account): string => {
  const url = new URL(head.url)
  const date = head.get('x-amz-date') ?? ''
  const names = ['content-type', 'host', 'x-amz-date', 'x-amz-security-token'].filter((name) => head.get(name))
  const query = [...url.searchParams].map((pair) => pair.map(encoded).join('=')).sort()
  const request = [
    head.method,
    // each part of the path is encoded once more
    url.pathname.split('/').map(encoded).join('/'),
    query.join('&'),
    ...names.map((name) => `${name}:${head.get(name)?.trim()}`),
    '',
    names.join(';'),
    sha256(head.body ?? ''),
  ].join('\n')
  const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`
  const key = scope.split('/').reduce<string | Buffer>((before, part) => hmac(before, part), `AWS4${secret_access_key}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(request)].join('\n')).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${access_key_id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
}

const encoded = (part: string): string =>
  encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
