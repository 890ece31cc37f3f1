import { readJson } from '#lib/json'

/** What is kept of a login, encrypted. */
export interface LoginTokens {
  /** What the row is of: rows that were exchanged are found out. */
  readonly server_id: string
  readonly agent_id: string
  /** The address that the tokens may be sent to. */
  readonly target: string
  readonly access_token: string
  readonly refresh_token?: string
  /** The resource that they were issued for. */
  readonly resource: string
  readonly client: LoginClient
  readonly server: LoginIssuer
}

/** This gateway as an authorization server knows it. */
export interface LoginClient {
  readonly client_id: string
  readonly client_secret?: string
  readonly auth_method: 'none' | 'client_secret_basic' | 'client_secret_post'
  /** It was registered for this login, with this address to come back to. */
  readonly registered?: string
}

/** What is needed of an authorization server once somebody has logged in. */
export interface LoginIssuer {
  readonly issuer: string
  readonly token_endpoint: string
  readonly revocation_endpoint?: string
}

const HEADER = { alg: 'dir', enc: 'A256GCM' }

/** Encrypts tokens: AES-256-GCM in a compact JWE. */
export const seal = async (tokens: LoginTokens, key: Uint8Array): Promise<string> => {
  const { CompactEncrypt } = await import('jose/jwe/compact/encrypt')
  return new CompactEncrypt(Buffer.from(JSON.stringify(tokens))).setProtectedHeader(HEADER).encrypt(key)
}

/** Undefined for what was encrypted with another key, was changed, or belongs to another row. */
export const unseal = async (
  sealed: string,
  key: Uint8Array,
  of: Pick<LoginTokens, 'server_id' | 'agent_id'>,
): Promise<LoginTokens | undefined> => {
  const { compactDecrypt } = await import('jose/jwe/compact/decrypt')
  try {
    const options = { keyManagementAlgorithms: [HEADER.alg], contentEncryptionAlgorithms: [HEADER.enc] }
    const { plaintext } = await compactDecrypt(sealed, key, options)
    const tokens = readJson(Buffer.from(plaintext).toString()) as LoginTokens
    return tokens.server_id === of.server_id && tokens.agent_id === of.agent_id ? tokens : undefined
  } catch {
    return undefined
  }
}
