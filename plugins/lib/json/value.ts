/** Where a value stands in its JSON text: characters, `start` inclusive, `end` exclusive. An object has `members`, an array `items`, as deep as was asked for. */
export interface JsonValue {
  readonly start: number
  readonly end: number
  readonly members?: readonly JsonMember[]
  readonly items?: readonly JsonValue[]
}

/** A member of an object: its name unescaped, and where the quote stands that opens the name. */
export interface JsonMember {
  readonly name: string
  readonly at: number
  readonly value: JsonValue
}
