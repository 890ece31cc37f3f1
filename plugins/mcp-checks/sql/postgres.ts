import { quoted } from 'guard-gateway/lib/text'
import { calledAsFields, fieldsOf } from './field-functions.ts'
import { type Operation, type SqlUsage, Unclear } from './operation.ts'
import { isShape, listOf, type Shape, shapeOf } from './syntax-tree.ts'

type Parse = (sql: string) => unknown

let parse: Parse | undefined

/** Loads PostgreSQL's grammar, which `readPostgresSql` needs. */
export const loadPostgres = async (): Promise<void> => {
  if (parse !== undefined) return
  const { loadModule, parseSync } = await import('libpg-query')
  await loadModule()
  parse = parseSync
}

/** The grammar has a fixed stack, which long chains and deep nesting exhaust. Larger texts are refused without parsing. */
const MAX_BRACKETS = 200
const MAX_LINKS = 4000

const BRACKETS = /[([\])]/g
const LINKS =
  /[-+*/<>=~!@#%^&|`?:]+|\b(?:and|or|not|is|isnull|notnull|in|like|ilike|similar|between|collate|at|union|intersect|except|join|select|when)\b/gi

const isTooLarge = (sql: string): boolean => {
  let depth = 0
  let deepest = 0
  for (const { 0: mark } of sql.matchAll(BRACKETS)) {
    // a closing bracket in a string must not make the depth negative
    depth = mark === '(' || mark === '[' ? depth + 1 : Math.max(0, depth - 1)
    deepest = Math.max(deepest, depth)
  }
  return deepest > MAX_BRACKETS || (sql.length > MAX_LINKS && (sql.match(LINKS)?.length ?? 0) > MAX_LINKS)
}

const MARKS = /[-+*/<>=~!@#%^&|`?]+/g
const COMMENT = /--.*|\/\*.*?(?:\*\/|$)/
const MAX_COMMENT_STEPS = 1_000_000

/** No operator is as long. The grammar rescans a long run of operator characters after each one. */
const MAX_OPERATOR = 4000

/** True if the grammar would take quadratic time for a run of operator characters, because it looks ahead from each. */
const repeatsMarks = (sql: string): boolean =>
  sql.match(MARKS)?.some((run) => {
    const isLong = run.length > MAX_OPERATOR && run.split(COMMENT).some((part) => part.length > MAX_OPERATOR)
    return isLong || (run.split('/*').length - 1) * run.length > MAX_COMMENT_STEPS
  }) === true

/** Reads a text with PostgreSQL's grammar. Throws Unclear for text that the grammar rejects. */
export const readPostgresSql = (sql: string): SqlUsage => {
  if (parse === undefined) throw new Error('The grammar is not loaded.')
  if (isTooLarge(sql) || repeatsMarks(sql)) throw new Unclear('nests too deep or chains too much')
  const statements = statementsOf(parse, sql)
  const walk = new Walk()
  for (const statement of statements) walk.enter(statement)
  walk.run()
  return { statements: statements.length, operations: walk.operations, functions: walk.functions, fields: walk.fields }
}

const statementsOf = (read: Parse, sql: string): readonly unknown[] => {
  try {
    const tree = read(sql)
    return listOf(isShape(tree) ? tree.stmts : undefined).map((one) => (isShape(one) ? one.stmt : undefined))
  } catch (error) {
    // after a stack overflow nobody knows the state of the module: the process ends with it
    if (error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError')) throw error
    const why = error instanceof Error ? `: ${quoted(error.message.replaceAll('"', "'"), 100)}` : ''
    throw new Unclear(`is no SQL that PostgreSQL accepts${why}`)
  }
}

/** Visits every node of a tree without recursion. */
class Walk {
  readonly operations = new Set<Operation>()
  readonly functions = new Set<string>()
  readonly fields = new Set<string>()
  readonly #ahead: unknown[] = []

  enter(value: unknown): void {
    if (value !== undefined) this.#ahead.push(value)
  }

  run(): void {
    for (let value = this.#ahead.pop(); value !== undefined; value = this.#ahead.pop()) {
      if (Array.isArray(value)) for (const one of value) this.enter(one)
      else if (isShape(value)) for (const [name, inner] of Object.entries(value)) this.#member(name, inner)
    }
  }

  /** A capitalised name is the kind of the node in it. Any other name is a member of a node. */
  #member(name: string, inner: unknown): void {
    if (/^[A-Z]/.test(name)) this.#node(name, shapeOf(inner))
    else {
      this.#part(name, shapeOf(inner))
      this.enter(inner)
    }
  }

  /** Parts without a kind in the tree. */
  #part(name: string, node: Shape): void {
    if (name === 'intoClause') this.operations.add('create')
    else if (name === 'lockingClause') this.operations.add('update')
    else if (name === 'onConflictClause' && node.action === 'ONCONFLICT_UPDATE') this.operations.add('update')
    else if (name === 'funccall') this.functions.add(dotted(node.funcname))
  }

  #node(kind: string, node: Shape): void {
    for (const operation of operationsOf(kind) ?? (isHarmlessNode(kind) ? [] : (['other'] as const)))
      this.operations.add(operation)
    this.#called(kind, node)
    for (const name of calledAsFields(kind, node)) this.functions.add(name)
    for (const name of fieldsOf(kind, node)) this.fields.add(name)
    if (kind === 'ExplainStmt' && !analyzes(node)) this.#planned(node.query)
    else this.#ahead.push(kind === 'InsertStmt' ? withPlainValues(node) : node)
  }

  #called(kind: string, node: Shape): void {
    if (kind === 'FuncCall') this.functions.add(dotted(node.funcname))
    else if (OPERATING.has(kind)) this.#operator(node)
    else if (kind === 'CopyStmt' && usesServerFile(node)) this.operations.add('other')
    else if (kind === 'RangeTableSample' && !SAMPLING.has(dotted(node.method))) this.functions.add(dotted(node.method))
  }

  #operator(node: Shape): void {
    const names = listOf(node.name ?? node.operName ?? node.useOp)
    if (names.length === 0) return
    const name = dotted(names)
    if (!isOwnOperator(name) && !WORDY.has(String(node.kind))) this.functions.add(name)
  }

  /** An EXPLAIN query is planned, not run: its operations do not count, but the planner calls its functions. */
  #planned(query: unknown): void {
    const inner = new Walk()
    inner.enter(query)
    inner.run()
    for (const name of inner.functions) this.functions.add(name)
    for (const name of inner.fields) this.fields.add(name)
    if (inner.operations.has('other')) this.operations.add('other')
  }
}

/** Expressions with a word as operator, which is always a built-in one. */
const WORDY = new Set([
  ...['AEXPR_LIKE', 'AEXPR_ILIKE', 'AEXPR_SIMILAR', 'AEXPR_BETWEEN', 'AEXPR_NOT_BETWEEN', 'AEXPR_BETWEEN_SYM'],
  ...['AEXPR_NOT_BETWEEN_SYM', 'AEXPR_IN', 'AEXPR_NULLIF'],
])

/** Built-in sampling methods. Any other is a function. */
const SAMPLING = new Set(['bernoulli', 'system'])

const OPERATING = new Set(['A_Expr', 'SubLink', 'SortBy'])

/** True if a COPY uses a file or a program on the server. */
const usesServerFile = (copy: Shape): boolean => copy.is_program === true || copy.filename !== undefined

/** The tree represents the rows of INSERT … VALUES as a query, which is none. */
const withPlainValues = (insert: Shape): Shape => {
  const source = isShape(insert.selectStmt) ? insert.selectStmt.SelectStmt : undefined
  return isShape(source) && source.valuesLists !== undefined ? { ...insert, selectStmt: source } : insert
}

const analyzes = (node: Shape): boolean =>
  listOf(node.options).some((option) => {
    const element = isShape(option) ? option.DefElem : undefined
    return isShape(element) && String(element.defname).toLowerCase() === 'analyze'
  })

/** A qualified name as text, without the schema `pg_catalog`. */
const dotted = (names: unknown): string => {
  const parts = listOf(names).map((one) => {
    const text = isShape(one) ? one.String : undefined
    return isShape(text) ? String(text.sval) : ''
  })
  return (parts[0] === 'pg_catalog' ? parts.slice(1) : parts).join('.')
}

/** Built-in operators of PostgreSQL. Any other operator calls a user-defined function. */
const OPERATORS = new Set(
  `+ - * / % ^ |/ ||/ @ & | # ~ << >> < > = <= >= <> != || ~~ !~~ ~~* !~~* ~* !~ !~* ~~~ !~~~ ^@ -> ->> #> #>> #- @> <@ ? ?| ?& @? @@ @@@ !! && &&& -|-
  &< &> <-> <^ >^ @-@ ## <<| |>> &<| |&> ?# ?- ?-| ?|| ~= <<= >>= ~<~ ~<=~ ~>~ ~>=~ <% %> <<% %>> *= *<> *< *<= *> *>= <=> <#> <+> <~>`.split(
    /\s+/,
  ),
)

const isOwnOperator = (name: string): boolean => OPERATORS.has(name)

/**
 * Operations by the statement nodes of PostgreSQL, without `Stmt`. Nodes that are not listed and start with Create,
 * Define, Alter or Drop have the operation of that prefix.
 */
const STATEMENTS: Readonly<Record<string, readonly Operation[]>> = {
  Select: ['select'],
  Insert: ['insert'],
  Update: ['update'],
  Delete: ['delete'],
  Merge: ['merge'],
  Explain: ['explain'],
  VariableShow: ['show'],
  VariableSet: ['set'],
  ConstraintsSet: ['set'],
  Transaction: ['transaction'],
  Call: ['call'],
  Do: ['call'],
  Copy: ['copy'],
  Prepare: [],
  Truncate: ['truncate'],
  Grant: ['grant'],
  GrantRole: ['grant'],
  AlterDefaultPrivileges: ['grant'],
  Index: ['create'],
  View: ['create'],
  Rule: ['create'],
  ImportForeignSchema: ['create'],
  Rename: ['alter'],
  Comment: ['alter'],
  // changes the server, not only a database
  AlterSystem: ['alter', 'other'],
}

/** Operations of a node. Undefined if it is no statement. */
const operationsOf = (node: string): readonly Operation[] | undefined => {
  if (!node.endsWith('Stmt')) return undefined
  const name = node.slice(0, -4)
  const known = Object.hasOwn(STATEMENTS, name) ? STATEMENTS[name] : undefined
  if (known !== undefined) return known
  if (/^(?:Create|Define)/.test(name)) return ['create']
  if (name.startsWith('Alter')) return ['alter']
  return name.startsWith('Drop') ? ['drop'] : ['other']
}

/** Parts of statements and expressions without an effect of their own. Any other node is unknown. */
const HARMLESS = new Set(
  `A_ArrayExpr A_Const A_Expr A_Indices A_Indirection A_Star AccessPriv Alias AlterTableCmd Bitstring Boolean BooleanTest BoolExpr CaseExpr CaseWhen CoalesceExpr
  CollateClause ColumnDef ColumnRef CommonTableExpr Constraint CTECycleClause CTESearchClause CurrentOfExpr DefElem Float FuncCall FunctionParameter
  GroupingFunc GroupingSet IndexElem InferClause Integer IntoClause JoinExpr JsonAggConstructor JsonArgument JsonArrayAgg
  JsonArrayConstructor JsonArrayQueryConstructor JsonBehavior JsonExpr JsonFormat JsonFuncExpr JsonIsPredicate JsonKeyValue JsonObjectAgg
  JsonObjectConstructor JsonOutput JsonParseExpr JsonReturning JsonScalarExpr JsonSerializeExpr JsonTable JsonTableColumn JsonTablePathSpec
  JsonTablePath JsonValueExpr List LockingClause MergeSupportFunc MergeWhenClause MinMaxExpr MultiAssignRef NamedArgExpr NullTest ObjectWithArgs
  OnConflictClause ParamRef PartitionBoundSpec PartitionElem PartitionSpec PartitionCmd RangeFunction RangeSubselect RangeTableFunc
  RangeTableFuncCol RangeTableSample RangeVar RawStmt ResTarget ReturningClause ReturningOption RoleSpec RowExpr
  SetToDefault SortBy SQLValueFunction StatsElem String SubLink TableLikeClause TriggerTransition TypeCast TypeName VacuumRelation
  WindowDef WithClause XmlExpr XmlSerialize`.split(/\s+/),
)

const isHarmlessNode = (node: string): boolean => HARMLESS.has(node)
