import type { SearchHit, SearchSource } from 'guard-gateway/lib/page'
import { pages } from 'guard-gateway/lib/paging'
import { DEFAULT_PROJECT } from 'guard-gateway/lib/session'
import type { PageParts } from './index.ts'

const MAX_HITS = 20

/** Finds policies by their project, and rules by id. */
export const policySource = ({ gateway, policies }: PageParts): SearchSource => ({
  id: 'policy',
  order: 50,
  takes: 'ids of rules',
  find: async (text) => {
    const own = await gateway.storage.get('policies', text)
    const projects = await projectsWithRule({ gateway, policies }, text)
    return [
      ...(own === undefined ? [] : [{ kind: 'policy', title: text, url: `/policies/${encodeURIComponent(text)}` }]),
      ...projects.slice(0, MAX_HITS).map((project) => ruleHit(project, text)),
    ]
  },
})

/** Projects whose policy has a rule of this id: that of all projects without one, then stored ones. */
const projectsWithRule = async (
  { gateway, policies }: Pick<PageParts, 'gateway' | 'policies'>,
  rule: string,
): Promise<readonly string[]> => {
  const { rules } = await policies.load(DEFAULT_PROJECT)
  const found = rules.some(({ id }) => id === rule) ? [DEFAULT_PROJECT] : []
  for await (const page of pages(gateway.storage, 'policies', {})) {
    const others = page.filter((policy) => policy.project_id !== DEFAULT_PROJECT)
    found.push(...others.filter((policy) => policy.rules.some(({ id }) => id === rule)).map((row) => row.project_id))
    if (found.length >= MAX_HITS) break
  }
  return found
}

const ruleHit = (project: string, rule: string): SearchHit => ({
  kind: 'rule',
  title: rule,
  url: `/policies/${encodeURIComponent(project)}#rule-${encodeURIComponent(rule)}`,
  note: `of ${project}`,
})
