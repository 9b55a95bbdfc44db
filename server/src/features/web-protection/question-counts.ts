import type { PageQuery } from '@palisade/contract/fields';
import { SHOWN_NAMES_KEPT_HOURS } from '@palisade/contract/web-protection';
import type { Kysely, Selectable } from 'kysely';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { hourOf } from './web-devices.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

const WRITE_MS = 2_000;
/** Maximum unwritten counts and names. While the database is unavailable, new ones beyond it are dropped. */
const WAITING_MAXIMUM = 20_000;
const DAY_MS = 86_400_000;
const COUNTS_DAYS = 90;
const NAMES_DAYS = 7;
const NAME_MAXIMUM = 253;
/** Maximum new names of one device per write. A device that queries random names displaces only its own names. */
const NEW_NAMES_MAXIMUM = 50;
const NAMES_KEPT = 1_000;

/** The result of a device's DNS query. */
export interface Outcome {
  device_id: string;
  /** The device's key at the time of the query. */
  key: string;
  user_id: string;
  /** The device's profile at the time of the query. */
  profile_id: string | null;
  refusal?: { name: string; rule: string; category: string } | undefined;
  /** The name of an answered query, if the device's names are being recorded. */
  shown?: string | undefined;
  /** Only the person of its profile may see its refused names. */
  is_private: boolean;
}

export interface DangerousRefusal {
  user_id: string;
  /** The device's profile at the time of the query. */
  profile_id: string | null;
  device: { id: string; name: string };
  /** Undefined if the name is private. */
  name: string | undefined;
  at: string;
}

type CountRow = Selectable<WebProtectionTables['web_counts']>;
type OfProfile = Pick<Outcome, 'profile_id'>;
type RefusalRow = Selectable<WebProtectionTables['web_refusals']> & OfProfile;
type ShownRow = Selectable<WebProtectionTables['web_shown_names']> & OfProfile;

interface Asked {
  at: number;
  key: string;
}

interface Waiting {
  counts: Map<string, CountRow>;
  refusals: Map<string, RefusalRow>;
  shown: Map<string, ShownRow>;
  /** Time and key of each device's latest query. A query with an old key does not count for a renewed one. */
  asked: Map<string, Asked>;
}

/** Counts queries by device, category and hour, and stores refused names. Writes to the database in batches every few seconds. */
export class QuestionCounts {
  private readonly options: {
    database: Kysely<WebProtectionTables>;
    now: () => number;
    /** Called for a device after its first query. */
    onFirst: QuestionCounts['onFirst'];
    /** Called once per device and write with refused dangerous names. */
    onDangerous: (refusal: DangerousRefusal) => Promise<void>;
    onFailure: (error: unknown) => void;
  };
  private readonly onFirst: (device: { user_id: string; profile_id: string | null }) => void;
  private counts = new Map<string, CountRow>();
  private refusals = new Map<string, RefusalRow>();
  private shown = new Map<string, ShownRow>();
  private asked = new Map<string, Asked>();
  private newNames = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private writing: Promise<void> = Promise.resolve();

  constructor(options: QuestionCounts['options']) {
    this.options = options;
    this.onFirst = options.onFirst;
    this.timer = setInterval(() => void this.write(), WRITE_MS);
    this.timer.unref();
  }

  add({ device_id, key, user_id, profile_id, refusal, shown, is_private }: Outcome): void {
    const isFull = this.size() >= WAITING_MAXIMUM;
    const now = this.options.now();
    const hour = hourOf(now);
    const category = refusal?.category ?? 'answered';
    const id = `${profile_id === null ? device_id : `${device_id}:${profile_id}`}:${hour}:${category}`;
    const counted = this.counts.get(id);
    if (counted !== undefined) counted.count++;
    else if (!isFull) this.counts.set(id, { id, device_id, user_id, profile_id, hour, category, count: 1 });
    this.asked.set(device_id, { at: now, key });
    // During a pause all names are refused. Storing them would record everything that the device opens.
    if (category === 'paused') return;
    const name = (refusal?.name ?? shown)?.slice(0, NAME_MAXIMUM);
    if (name === undefined) return;
    const named = `${device_id}:${profile_id}:${name}`;
    const refused = this.refusals.get(named);
    const before = refusal === undefined ? this.shown.get(named) : refused;
    if (before === undefined) {
      const newNames = this.newNames.get(device_id) ?? 0;
      if (isFull || newNames >= NEW_NAMES_MAXIMUM) return;
      this.newNames.set(device_id, newNames + 1);
    }
    const last_at = new Date(now).toISOString();
    const row = { id: newId(), user_id, device_id, profile_id, name, count: (before?.count ?? 0) + 1, last_at };
    if (refusal === undefined) this.shown.set(named, row);
    else {
      const rule = refusal.rule.slice(0, NAME_MAXIMUM);
      this.refusals.set(named, { ...row, rule, category, is_private: is_private ? 1 : (refused?.is_private ?? 0) });
    }
  }

  private size(): number {
    return this.counts.size + this.refusals.size + this.shown.size;
  }

  /** Writes the collected data, after an earlier write has ended. */
  write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeNow()).catch(this.options.onFailure);
    return this.writing;
  }

  private async writeNow(): Promise<void> {
    const { counts, refusals, shown, asked } = this;
    if (asked.size === 0) return;
    this.counts = new Map();
    this.refusals = new Map();
    this.shown = new Map();
    this.asked = new Map();
    this.newNames = new Map();
    const known = await this.store({ counts, refusals, shown, asked }).catch((error: unknown) => {
      this.putBack({ counts, refusals, shown, asked });
      throw error;
    });
    for (const device of known) if (device.last_question_at === null) this.onFirst(device);
    // One alert per device and write: it contains one of the names, and the page shows all of them.
    for (const device of known) {
      const dangerous = [...refusals.values()].find(
        ({ device_id, category }) => device_id === device.id && category === 'dangerous',
      );
      if (dangerous === undefined) continue;
      const { user_id, profile_id, last_at: at } = dangerous;
      const name = dangerous.is_private === 1 ? undefined : dangerous.name;
      await this.options.onDangerous({ user_id, profile_id, device, name, at }).catch(this.options.onFailure);
    }
  }

  /** Merges data of a failed write into the data of the next write, up to the maximum. */
  private putBack({ counts, refusals, shown, asked }: Waiting): void {
    const room = () => WAITING_MAXIMUM - this.size();
    addTo(this.counts, counts, room);
    addTo(this.refusals, refusals, room);
    addTo(this.shown, shown, room);
    for (const [id, at] of asked) if (!this.asked.has(id)) this.asked.set(id, at);
  }

  private store({ counts, refusals, shown, asked }: Waiting) {
    return inTransaction(this.options.database, async (transaction) => {
      const asking = await transaction
        .selectFrom('web_devices')
        .select(['id', 'user_id', 'profile_id', 'name', 'last_question_at'])
        .where('id', 'in', [...asked.keys()])
        .orderBy('id')
        .execute();
      // The updates lock the rows: no device changes its profile until the transaction ends.
      const living = new Map<string, string | null>();
      for (const { id } of asking) {
        const { at, key } = asked.get(id) ?? { at: this.options.now(), key: '' };
        const held = await transaction
          .updateTable('web_devices')
          .set(({ eb, ref }) => ({
            last_question_at: eb
              .case()
              .when('key', '=', key)
              .then<string | null>(new Date(at).toISOString())
              .else(ref('last_question_at'))
              .end(),
          }))
          .where('id', '=', id)
          .returning('profile_id')
          .executeTakeFirst();
        if (held !== undefined) living.set(id, held.profile_id);
      }
      // Names under an earlier profile of the device belong to another person, and are dropped.
      const isKept = ({ device_id, profile_id }: { device_id: string } & OfProfile) => living.get(device_id) === profile_id;
      for (const row of counts.values())
        if (living.has(row.device_id))
          await transaction
            .insertInto('web_counts')
            .values(row)
            .onConflict((conflict) =>
              conflict.column('id').doUpdateSet((eb) => ({ count: eb('web_counts.count', '+', row.count) })),
            )
            .execute();
      for (const { profile_id, id, count, ...row } of refusals.values())
        if (isKept({ ...row, profile_id }))
          await transaction
            .insertInto('web_refusals')
            .values({ id, count, ...row })
            .onConflict((conflict) =>
              conflict.columns(['device_id', 'name']).doUpdateSet((eb) => ({
                ...row,
                id,
                count: eb('web_refusals.count', '+', count),
                // A private name stays private.
                is_private: row.is_private === 1 ? 1 : eb.ref('web_refusals.is_private'),
              })),
            )
            .execute();
      for (const { profile_id, id, count, ...row } of shown.values())
        if (isKept({ ...row, profile_id }))
          await transaction
            .insertInto('web_shown_names')
            .values({ id, count, ...row })
            .onConflict((conflict) =>
              conflict
                .columns(['device_id', 'name'])
                .doUpdateSet((eb) => ({ ...row, id, count: eb('web_shown_names.count', '+', count) })),
            )
            .execute();
      for (const [table, rows] of [['web_refusals', refusals] as const, ['web_shown_names', shown] as const])
        for (const device_id of new Set([...rows.values()].map((row) => row.device_id)))
          await keepNewest(transaction, table, device_id);
      return asking;
    });
  }

  /** Refused names of a person's devices without a profile. Names of devices with a profile are shown with the profile. */
  async refused(user_id: string, { device_id, limit, cursor }: PageQuery & { device_id?: string | undefined }) {
    const own = this.options.database
      .selectFrom('web_devices')
      .select('id')
      .where('user_id', '=', user_id)
      .where('profile_id', 'is', null);
    let query = this.options.database
      .selectFrom('web_refusals')
      .select(['id', 'device_id', 'name', 'rule', 'category', 'count', 'last_at'])
      .where('user_id', '=', user_id)
      .where('device_id', 'in', own)
      .where('is_private', '=', 0);
    if (device_id !== undefined) query = query.where('device_id', '=', device_id);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return await query.orderBy('id', 'desc').limit(limit).execute();
  }

  /** Answered names of a device that were recorded. */
  async shownNames(device_id: string, { limit, cursor }: PageQuery) {
    let query = this.options.database
      .selectFrom('web_shown_names')
      .select(['id', 'name', 'count', 'last_at'])
      .where('device_id', '=', device_id)
      .where('last_at', '>', this.shownSince());
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return await query.orderBy('id', 'desc').limit(limit).execute();
  }

  private shownSince(): string {
    return new Date(this.options.now() - SHOWN_NAMES_KEPT_HOURS * 3_600_000).toISOString();
  }

  /** Deletes data after its retention period. */
  async forgetOld(): Promise<void> {
    const now = this.options.now();
    await this.options.database
      .deleteFrom('web_counts')
      .where('hour', '<', hourOf(now - COUNTS_DAYS * DAY_MS))
      .execute();
    await this.options.database
      .deleteFrom('web_refusals')
      .where('last_at', '<', new Date(now - NAMES_DAYS * DAY_MS).toISOString())
      .execute();
    await this.options.database.deleteFrom('web_shown_names').where('last_at', '<', this.shownSince()).execute();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }
}

function addTo<Row extends { count: number }>(into: Map<string, Row>, from: Map<string, Row>, room: () => number): void {
  for (const [id, row] of from) {
    const since = into.get(id);
    if (since !== undefined) since.count += row.count;
    else if (room() > 0) into.set(id, row);
  }
}

async function keepNewest(
  database: Kysely<WebProtectionTables>,
  table: 'web_refusals' | 'web_shown_names',
  device_id: string,
): Promise<void> {
  const oldest = await database
    .selectFrom(table)
    .select('id')
    .where('device_id', '=', device_id)
    .orderBy('id', 'desc')
    .offset(NAMES_KEPT - 1)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await database.deleteFrom(table).where('device_id', '=', device_id).where('id', '<', oldest.id).execute();
}
