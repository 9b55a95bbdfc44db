/** Threat names of standard test files at the time of this migration. A test compares them with `TEST_FILE_THREATS`; a changed list needs a new migration. */
const TEST_FILES = ['EICAR-Test-File', 'GTUBE-Test-Mail', 'GTUBE-Test-Mail.Rspamd', 'AMSI-Test-Sample', 'ClamAV-Test-File'];
const COUNTED = ['clean', 'infected', 'pending', 'test_files'] as const;

/** SQL condition: whether `row` counts in a column. */
function countsIn(column: (typeof COUNTED)[number], row: string): string {
  if (column !== 'test_files') return `${row}.scan_status = '${column}'`;
  const names = TEST_FILES.map((name) => `'${name}'`).join(', ');
  return `${row}.scan_status = 'infected' and coalesce(${row}.threat_detected, '') in (${names})`;
}

const one = (column: (typeof COUNTED)[number], row: string) => `case when ${countsIn(column, row)} then 1 else 0 end`;
const each = (write: (column: (typeof COUNTED)[number]) => string) => COUNTED.map(write).join(', ');

const ADD = `insert into scan_counts (user_id, ${COUNTED.join(', ')}) values (new.user_id, ${each((column) => one(column, 'new'))})
  on conflict (user_id) do update set ${each((column) => `${column} = scan_counts.${column} + excluded.${column}`)};`;
const CHANGE = `update scan_counts set ${each((column) => `${column} = ${column} + ${one(column, 'new')} - ${one(column, 'old')}`)}
  where user_id = new.user_id;`;

/** SQLite triggers. The `when` condition skips the many changes that affect no count. */
function countsOnSqlite(): string[] {
  const less = each((column) => `${column} = ${column} - ${one(column, 'old')}`);
  return [
    `create trigger scan_counts_added after insert on scans begin ${ADD} end`,
    `create trigger scan_counts_changed after update of scan_status, threat_detected on scans
    when old.scan_status <> new.scan_status or old.threat_detected is not new.threat_detected begin ${CHANGE} end`,
    `create trigger scan_counts_removed after delete on scans begin
    update scan_counts set ${less} where user_id = old.user_id; end`,
  ];
}

/** PostgreSQL triggers. Bulk deletions lock the counts in the order of their ids, so that two of them cannot deadlock. */
function countsOnPostgres(): string[] {
  const make = (name: string, body: string) =>
    `create function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`;
  const sums = each((column) => `sum(${one(column, 'removed')})::integer as ${column}`);
  return [
    make('count_added_scan', ADD),
    make('count_changed_scan', CHANGE),
    make(
      'count_removed_scans',
      `perform 1 from scan_counts where user_id in (select user_id from removed) order by user_id for update;
     update scan_counts set ${each((column) => `${column} = scan_counts.${column} - less.${column}`)}
     from (select user_id, ${sums} from removed group by user_id) as less
     where scan_counts.user_id = less.user_id;`,
    ),
    'create trigger scan_counts_added after insert on scans for each row execute function count_added_scan()',
    `create trigger scan_counts_changed after update of scan_status, threat_detected on scans for each row
    when (old.scan_status <> new.scan_status or old.threat_detected is distinct from new.threat_detected)
    execute function count_changed_scan()`,
    `create trigger scan_counts_removed after delete on scans referencing old table as removed
    for each statement execute function count_removed_scans()`,
  ];
}

/** Statements that create triggers, which count each person's scans in the same transaction as the change. */
export function scanCounts(isPostgres: boolean): string[] {
  return isPostgres ? countsOnPostgres() : countsOnSqlite();
}
