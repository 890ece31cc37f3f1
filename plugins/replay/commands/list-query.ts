import type { Input } from '#lib/command'

/** Filter of runs by flag, as the page of the list takes them too. */
export const FILTERS: Readonly<Record<string, string>> = {
  project: 'project_id',
  session: 'session_id',
  agent: 'agent',
  model: 'model',
  status: 'status',
  failure: 'failure_tag',
  tag: 'tag',
  attribute: 'attribute',
  pinned: 'pinned',
  since: 'since',
  until: 'until',
  query: 'q',
  sort: 'sort',
}

/** What flags say as a query string. */
export const queryOf = (
  { options }: Pick<Input, 'options'>,
  names: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>> = {},
): URLSearchParams => {
  const query = new URLSearchParams(defaults)
  for (const [flag, name] of Object.entries(names)) {
    const value = options[flag]
    if (value === undefined) continue
    query.delete(name)
    for (const one of [value].flat()) query.append(name, String(one))
  }
  return query
}
