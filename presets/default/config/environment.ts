import type { ConfigError } from './config-errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** Replaces every `${NAME}` in texts from the environment. An unset variable is an error at its path. */
export const resolveReferences = (
  value: unknown,
  env: Environment,
): { readonly value: unknown; readonly errors: readonly ConfigError[] } => {
  const errors: ConfigError[] = []
  const resolveIn = (part: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof part === 'string') return substitute(part, path)
    if (Array.isArray(part)) return part.map((element, index) => resolveIn(element, [...path, index]))
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([key, member]) => [key, resolveIn(member, [...path, key])]))
  }
  const substitute = (text: string, path: readonly (string | number)[]): string =>
    text.replace(reference, (match, name: string) => {
      const found = Object.hasOwn(env, name) ? env[name] : undefined
      if (found === undefined || found === '')
        errors.push({ path, message: `the environment variable ${name} is not set` })
      return found || match
    })
  return { value: resolveIn(value, []), errors }
}

/** The names of all variables that texts refer to, each once. */
export const referencesIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [...new Set([...value.matchAll(reference)].map(([, name = '']) => name))]
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.values(value).flatMap(referencesIn))]
}

/** Credentials that only a serving gateway uses; API commands work without them. */
export const isServeOnlyError = ({ path }: ConfigError): boolean => credentialPath.test(path.join('\n'))

const credentialPath =
  /^(?:server\ntls\npassphrase$|upstreams\n\d+\n(?:api_key$|api_keys\n|headers\n)|mcp\n(?:approver_key$|login_key$|servers\n[^\n]+\n(?:(?:env|headers)\n|login\nclient_secret$))|notify\nreceivers\n|plugins\n\d+\nwith\n)/

const OWN: ReadonlySet<string> = new Set(['gateway_key', 'storage.url'])

/** Whether a file holds a credential itself, and no name of a variable in its place. */
export const holdsCredential = (value: unknown, path: readonly (string | number)[] = []): boolean => {
  if (typeof value === 'string')
    return (OWN.has(path.join('.')) || isServeOnlyError({ path, message: '' })) && value.replace(reference, '') !== ''
  if (Array.isArray(value)) return value.some((part, index) => holdsCredential(part, [...path, index]))
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, part]) => holdsCredential(part, [...path, key]))
}

/** Default upstreams for the public services whose key is in the environment. */
export const upstreamsFrom = (env: Environment): readonly object[] =>
  services.flatMap(({ variable, ...upstream }) => (env[variable] ? [{ ...upstream, api_key: env[variable] }] : []))

/** Public model services that need only a key. */
export const services = [
  {
    variable: 'OPENAI_API_KEY',
    name: 'openai',
    base_url: 'https://api.openai.com',
    styles: ['responses', 'chat_completions'],
  },
  { variable: 'ANTHROPIC_API_KEY', name: 'anthropic', base_url: 'https://api.anthropic.com', styles: ['messages'] },
  {
    variable: 'GEMINI_API_KEY',
    name: 'gemini',
    base_url: 'https://generativelanguage.googleapis.com',
    styles: ['gemini'],
  },
] as const
