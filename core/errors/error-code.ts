/** An error that a gateway can answer: HTTP status, wire type, what happened, what to do about it. A plugin that has its own adds them to `gateway.errorCodes`. */
export interface ErrorCode<C extends string = string> {
  readonly id: C
  readonly status: number
  readonly type: string
  readonly message: string
  readonly help: string
}

/** Error codes that share a status and a wire type. */
export const errorCodes = <const C extends string>(
  status: number,
  type: string,
  texts: Readonly<Record<C, readonly [message: string, help: string]>>,
): { readonly [K in C]: ErrorCode<K> } => {
  const codes: Record<string, ErrorCode> = {}
  for (const [id, [message, help]] of Object.entries<readonly [string, string]>(texts))
    codes[id] = { id, status, type, message, help }
  return codes as { readonly [K in C]: ErrorCode<K> }
}
