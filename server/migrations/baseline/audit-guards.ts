/** Columns of an audit entry that cannot change. The only allowed change sets the personal part to null, once. */
const CHANGED = ['seq', 'at', 'kind', 'subject_id', 'actor_id', 'personal_hash', 'hash'];
/** The anchor: entries before it may be removed, and it only moves forward. */
const ANCHOR = '(select coalesce(max(anchor_seq), 0) from audit_head)';
const MOVED = 'new.anchor_seq < old.anchor_seq or new.anchor_seq > new.seq';
const REFUSAL = 'the audit log is append-only';

/** Statements that create triggers against changes of the audit log. */
export function auditGuards(isPostgres: boolean): string[] {
  const differs = isPostgres ? 'is distinct from' : 'is not';
  const changed = CHANGED.map((column) => `new.${column} ${differs} old.${column}`).join(' or ');
  const entry = `new.personal is not null or ${changed}`;
  const head = `new.id ${differs} old.id or new.seq not in (old.seq, old.seq + 1) or ${MOVED}`;
  const refuse = (name: string, event: string, when: string) =>
    isPostgres
      ? `create trigger ${name} before ${event} ${when} execute function refuse_audit_change()`
      : `create trigger ${name} before ${event} when ${when} begin select raise(abort, '${REFUSAL}'); end`;
  if (!isPostgres)
    return [
      refuse('audit_entries_update', 'update on audit_entries', entry),
      refuse('audit_entries_delete', 'delete on audit_entries', `old.seq > ${ANCHOR}`),
      refuse('audit_head_update', 'update on audit_head', head),
      refuse('audit_head_delete', 'delete on audit_head', 'true'),
    ];
  return [
    `create function refuse_audit_change() returns trigger language plpgsql as $$ begin raise exception '${REFUSAL}'; end $$`,
    `create function refuse_audit_deletion() returns trigger language plpgsql as $$ begin
      if old.seq > ${ANCHOR} then raise exception '${REFUSAL}'; end if;
      return old; end $$`,
    refuse('audit_entries_update', 'update on audit_entries', `for each row when (${entry})`),
    'create trigger audit_entries_delete before delete on audit_entries for each row execute function refuse_audit_deletion()',
    refuse('audit_entries_truncate', 'truncate on audit_entries', 'for each statement'),
    refuse('audit_head_update', 'update on audit_head', `for each row when (${head})`),
    refuse('audit_head_delete', 'delete or truncate on audit_head', 'for each statement'),
  ];
}
