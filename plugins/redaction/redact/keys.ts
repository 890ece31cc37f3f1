import { URL64 } from './alphabet.ts'
import { cloudKeys } from './keys/clouds.ts'
import { codeKeys } from './keys/code.ts'
import { modelKeys } from './keys/models.ts'
import { type KeyRule, key } from './keys/rule.ts'
import { serviceKeys } from './keys/services.ts'

const own = [key('guard_ gak_ mcp_', URL64, 43)]

/**
 * Keys and secret addresses with a shape that their vendors make public, as vendors, gitleaks, trufflehog, kingfisher,
 * secretlint and Microsoft's security-utilities describe them. Order matters among equal anchors only.
 */
export const keyRules: readonly KeyRule[] = [...modelKeys, ...cloudKeys, ...codeKeys, ...serviceKeys, ...own]
