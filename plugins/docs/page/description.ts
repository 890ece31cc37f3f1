/** Fields of JSON schema that the pages show. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly description?: string
  readonly format?: string
  readonly pattern?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/** A body by media type. */
export interface Body {
  readonly description?: string
  readonly required?: boolean
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

export interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}

/** The document of `/openapi.json`. */
export interface Description {
  readonly info: { readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** An operation with its path and method. */
export interface LocatedOperation {
  /** Id in page addresses. */
  readonly id: string
  /** In upper case. */
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** All operations, in document order. */
export const operationsOf = ({ paths }: Description): readonly LocatedOperation[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      id: `${method}${path.replace(/[^\w.]+/g, '-').replace(/-$/, '')}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
