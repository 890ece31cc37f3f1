import type { ConfigFault } from './faults.ts'

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** The value with every `${NAME}` in its texts replaced from the environment; a variable that is not set is a fault at its place. */
export const resolveReferences = (
  value: unknown,
  env: Environment,
): { readonly value: unknown; readonly faults: readonly ConfigFault[] } => {
  const faults: ConfigFault[] = []
  const walk = (part: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof part === 'string') return substitute(part, path)
    if (Array.isArray(part)) return part.map((element, index) => walk(element, [...path, index]))
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([key, member]) => [key, walk(member, [...path, key])]))
  }
  const substitute = (text: string, path: readonly (string | number)[]): string =>
    text.replace(reference, (whole, name: string) => {
      const found = Object.hasOwn(env, name) ? env[name] : undefined
      if (found === undefined || found === '')
        faults.push({ path, message: `the environment variable ${name} is not set` })
      return found || whole
    })
  return { value: walk(value, []), faults }
}

/** Credentials that only a gateway which serves shows to anybody: what merely asks one can do without. */
export const isServeOnlyFault = ({ path }: ConfigFault): boolean => credentialPlace.test(path.join('\n'))

const credentialPlace =
  /^(?:upstreams\n\d+\n(?:api_key$|headers\n)|mcp\n(?:approver_key$|servers\n[^\n]+\n(?:env|headers)\n))/

/** Upstreams as a configuration file would name them, for the public services whose key is in the environment. */
export const upstreamsFrom = (env: Environment): readonly object[] =>
  services.flatMap(({ variable, ...upstream }) => (env[variable] ? [{ ...upstream, api_key: env[variable] }] : []))

/** The public model services that need no configuration but a key. */
export const services = [
  {
    variable: 'OPENAI_API_KEY',
    name: 'openai',
    base_url: 'https://api.openai.com',
    styles: ['responses', 'chat_completions'],
  },
  { variable: 'ANTHROPIC_API_KEY', name: 'anthropic', base_url: 'https://api.anthropic.com', styles: ['messages'] },
] as const
