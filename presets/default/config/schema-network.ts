import { Type } from '#lib/json'
import { emptyConfig } from './defaults.ts'

const { network } = emptyConfig()

export const proxySchema = Type.Optional(
  Type.String({
    minLength: 1,
    examples: [network.proxy],
    description: 'http://host:port, none or environment; network.proxy if absent',
  }),
)

export const caSchema = Type.Optional(
  Type.Array(Type.String({ minLength: 1 }), {
    examples: [[]],
    description: 'PEM files of authorities to trust besides, relative to this file',
  }),
)

/** A closed object; if absent, it has its defaults. */
export const section = { additionalProperties: false, default: {} }

/** A positive integer. */
export const count = (value: number, description: string) => Type.Integer({ minimum: 1, default: value, description })

/** Section `network`: proxies and certificates of outgoing connections. */
export const networkSchema = Type.Object(
  {
    proxy: Type.String({
      minLength: 1,
      default: network.proxy,
      description: 'environment (HTTPS_PROXY, HTTP_PROXY), none, or http://user:password@host:port',
    }),
    no_proxy: Type.Array(Type.String({ minLength: 1 }), {
      default: network.no_proxy,
      description: 'hosts reached directly, beside NO_PROXY: names, addresses, blocks as 10.0.0.0/8',
    }),
    ca: Type.Array(Type.String({ minLength: 1 }), {
      default: network.ca,
      description: 'PEM files of authorities to trust besides, everywhere; as NODE_EXTRA_CA_CERTS',
    }),
  },
  section,
)
