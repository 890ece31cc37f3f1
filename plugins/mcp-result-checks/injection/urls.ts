import { anyGlob } from 'guard-gateway/lib/glob'
import type { PieceFinding } from 'guard-gateway/lib/mcp-check'
import { removal } from './removal.ts'

export type HostTest = (host: string) => boolean

/** Hosts are compared in small letters; `*` stands for any characters. */
export const hostTest = (hosts: readonly string[]): HostTest => anyGlob(hosts.map((host) => host.toLowerCase()))

/** Without what ends the sentence around it. */
const LINK = /\b(?:https?|wss?|ftp):[\\/]{1,4}[^\s<>"'`)\]}]{0,2000}[^\s<>"'`)\]}.,;:!?]/gi

/** Links to other hosts than these. What is no address, or no host at all, is none of them. */
export const unlistedLinks = (text: string, isListed: HostTest): readonly PieceFinding[] =>
  [...text.matchAll(LINK)]
    .filter(([link]) => !isListed(hostOf(link)))
    .map(({ 0: link, index }) =>
      removal('holds a link to a host that is not listed', index, index + link.length, 'link to a host not listed'),
    )

const hostOf = (link: string): string => URL.parse(link)?.hostname ?? ''
