import type { Ajv } from 'ajv'
import type { Gateway, Registry } from 'guard-gateway/core'
import { suggestion } from 'guard-gateway/plugins/cli'
import { knownEvents } from 'guard-gateway/plugins/notify'
import { type Notifier, notifierKind } from '#lib/notifier'
import { addressError } from './check-http.ts'
import { at, type ConfigError, type Path, schemaErrors } from './config-errors.ts'
import { proxyError } from './network.ts'
import type { Config } from './schema.ts'

/** What a schema cannot say of the section `notify`. */
export const notifyErrors = ({ notify: { base_url, receivers, rules }, plugins }: Config): readonly ConfigError[] => [
  ...at(['notify', 'base_url'], base_url === '' ? undefined : addressError(URL.parse(base_url), 'another address')),
  ...Object.entries(receivers).flatMap(([name, { url, proxy }]) => [
    ...at(['notify', 'receivers', name, 'url'], url === undefined ? undefined : urlError(url)),
    ...at(['notify', 'receivers', name, 'proxy'], proxyError(proxy)),
  ]),
  ...rules.flatMap(({ events = [], to = [] }, index) => [
    // a plugin may tell of events of its own
    ...(plugins.length > 0
      ? []
      : named(events, Object.keys(knownEvents), 'event', ['notify', 'rules', index, 'events'])),
    ...named(to, Object.keys(receivers), 'receiver', ['notify', 'rules', index, 'to']),
  ]),
]

/** A command that only asks leaves references to the environment as they are. */
const urlError = (url: string): string | undefined =>
  url.includes('${') ? undefined : addressError(URL.parse(url), 'the keys of its notifier')

const named = (names: readonly string[], known: readonly string[], kind: string, path: Path): readonly ConfigError[] =>
  names.flatMap((name, index) =>
    at(
      [...path, index],
      known.includes(name)
        ? undefined
        : `there is no ${kind} "${name}"; there is ${known.join(', ') || 'none'}.${suggestion(name, known)}`,
    ),
  )

/** Receivers by notifiers that no plugin of the gateway is, and with options that theirs does not take. */
export const receiverErrors = async (
  gateway: Gateway,
  { notify: { receivers } }: Config,
): Promise<readonly ConfigError[]> => {
  const entries = Object.entries(receivers)
  if (entries.length === 0) return []
  const { Ajv } = await import('ajv')
  const ajv = new Ajv({ allErrors: true, verbose: true, validateSchema: false, strict: false })
  return entries.flatMap(([name, receiver]) =>
    optionErrors(ajv, gateway.registry(notifierKind), receiver, ['notify', 'receivers', name]),
  )
}

const optionErrors = (
  ajv: Ajv,
  notifiers: Registry<Notifier>,
  { notifier: id, ...options }: Config['notify']['receivers'][string],
  path: Path,
): readonly ConfigError[] => {
  const known = notifiers.ids()
  const notifier = notifiers.get(id)
  if (notifier === undefined)
    return at(
      [...path, 'notifier'],
      `there is no notifier "${id}"; there is ${known.join(', ') || 'none'}.${suggestion(id, known)}`,
    )
  const validate = ajv.compile(notifier.schema)
  if (validate(options)) return []
  return schemaErrors(validate.errors ?? [], options).map((error) => ({ ...error, path: [...path, ...error.path] }))
}
