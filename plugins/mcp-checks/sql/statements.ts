import type { Operation } from './operation.ts'

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
export const operationsOf = (node: string): readonly Operation[] | undefined => {
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

export const isHarmlessNode = (node: string): boolean => HARMLESS.has(node)
