import { jsonObjectOf, listOf } from '#lib/json'

/** A line for each upstream that is not asked at the moment, or has keys at rest; of the answer of `/api/health`. */
export const upstreamLines = (health: unknown): readonly string[] =>
  listOf(jsonObjectOf(health).upstreams).map(jsonObjectOf).flatMap(lineOf)

const lineOf = ({ name, ready, circuit, failures, wait_seconds, keys }: ReturnType<typeof jsonObjectOf>): string[] => {
  const { count, resting } = jsonObjectOf(keys)
  const rest = typeof resting === 'number' && resting > 0 ? [`${resting} of ${count} keys rest`] : []
  const wait = `for another ${wait_seconds} s`
  if (circuit === 'open') return [`upstream ${name} is not asked ${wait}: it failed ${failures} times in a row`]
  if (circuit === 'half_open') return [`upstream ${name} failed ${failures} times in a row; the next request tries it`]
  if (ready === false) return [`upstream ${name} rests ${wait}: ${rest[0] ?? 'it refused a request'}`]
  return rest.map((text) => `upstream ${name}: ${text}`)
}
