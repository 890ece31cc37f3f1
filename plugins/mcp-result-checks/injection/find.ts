import type { PieceFinding } from 'guard-gateway/lib/mcp-check'
import type { Options } from '../injection.ts'
import { hiddenText } from './hidden.ts'
import { plainView } from './plain-view.ts'
import { requestsIn } from './requests.ts'
import { hostTest, unlistedLinks } from './urls.ts'

/** What is in a text to steer who reads it. */
export const injectionsIn = ({ hidden = true, requests = true, hosts }: Options) => {
  const isListed = hosts === undefined ? undefined : hostTest(hosts)
  return (piece: string): readonly PieceFinding[] => [
    ...(hidden ? hiddenText(piece) : []),
    ...(requests ? requestsIn(plainView(piece)) : []),
    ...(isListed === undefined ? [] : unlistedLinks(piece, isListed)),
  ]
}
