import type { Gateway } from 'guard-gateway/core'
import { guidePageKind, pageKind, searchSourceKind } from 'guard-gateway/lib/page'
import { Guide } from './guide.ts'
import { leafPage } from './page/leaf.ts'
import { listPage } from './page/list.ts'
import { commandsPage } from './reference/commands.ts'
import { configurationPage, type DescribedSchema } from './reference/configuration.ts'
import { errorsPage } from './reference/errors.ts'
import { rulesPage } from './reference/rules.ts'
import { guideSource } from './search-source.ts'

/** What of the program the gateway itself does not know. */
export interface GuideOptions {
  /** JSON schema of the configuration; asked when the guide is first read. */
  readonly configuration?: () => Promise<object>
}

/** Adds the guide: the documents of the package, the reference made of what is registered, and their search. */
export const addGuide = (gateway: Gateway, { configuration }: GuideOptions): Guide => {
  const guide = new Guide(gateway)
  const references = gateway.registry(guidePageKind)
  if (configuration !== undefined) references.add(configurationPage(configuration as () => Promise<DescribedSchema>))
  references.add(errorsPage(gateway), commandsPage(gateway), rulesPage(gateway))
  gateway.registry(pageKind).add(listPage(guide), leafPage(guide, gateway.redact.text))
  gateway.registry(searchSourceKind).add(guideSource(guide))
  return guide
}
