import { currentUser } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { claimConversation } from '@palisade/contract/desk';
import { listTeam } from '@palisade/contract/desk-team';
import { changeUser } from '@palisade/contract/users';
import { needing } from '@palisade/scanner/test/needs';
import { expect, test, vi } from 'vitest';
import { HAS_CLUSTER, NO_CLUSTER, startCluster } from './cluster.ts';
import { callAt, replyOf } from './harness.ts';
import { listenAs } from './socket.ts';

if (!HAS_CLUSTER) process.stdout.write(`skipped: ${NO_CLUSTER}\n`);

const MESSAGES = 40;
const SOON = { timeout: 60_000, interval: 50 };

needing('PostgreSQL, an S3 server and Redis', HAS_CLUSTER).describe(
  'the support desk of two servers',
  { timeout: 180_000 },
  () => {
    // proves: support-fault-1, support-scale-2
    test('loses no message, doubles none and keeps their order when one is killed in the middle, and both know who is here', async () => {
      const { start } = await startCluster();
      const [one, other] = [await start(), await start()];
      const boss = await one.signIn('boss');
      const [maria, ana, ben] = [await one.signIn('maria'), await other.signIn('ana'), await one.signIn('ben')];
      for (const token of [ana, ben]) {
        const { id: user_id } = replyOf(await callAt(one, currentUser, { token }));
        replyOf(await callAt(one, changeUser, { token: boss, body: { user_id, role: 'support' } }));
      }
      const say = (server: { url: string }, message: string, client_message_id: string) =>
        callAt(server, sendMessage, { token: maria, body: { message, sender: 'user', client_message_id } });
      const { conversation_id: id } = replyOf(await say(one, 'hello', crypto.randomUUID()));

      const page = await listenAs(other, ana);
      page.say({ kind: 'listen', topic: 'staff' });
      page.say({ kind: 'listen_conversation', conversation_id: id });
      await vi.waitFor(() => expect(page.frames.filter(({ kind }) => kind === 'listening')).toHaveLength(2), SOON);
      await vi.waitFor(async () => {
        const team = replyOf(await callAt(one, listTeam, { token: ben }));
        expect(team.find(({ username }) => username === 'ana')?.presence).toBe('here');
      }, SOON);

      // Both want it, each at a server of its own.
      const claims = await Promise.all([
        callAt(one, claimConversation, { token: ben, params: { id } }),
        callAt(other, claimConversation, { token: ana, params: { id } }),
      ]);
      expect(claims.map(({ status }) => status).toSorted()).toEqual([200, 409]);

      // The same one 20 times at once, at both.
      const again = crypto.randomUUID();
      const repeated = await Promise.all(
        Array.from({ length: 20 }, (_, place) => say(place % 2 === 0 ? one : other, 'only once', again)),
      );
      expect(new Set(repeated.map((answer) => replyOf(answer).id)).size).toBe(1);

      const names = Array.from({ length: MESSAGES }, (_, place) => ({ text: `no. ${place}`, key: crypto.randomUUID() }));
      const sent = names.map(({ text, key }, place) => say(place % 2 === 0 ? one : other, text, key).catch(() => undefined));
      await Promise.race(sent);
      await one.kill('SIGKILL');
      await Promise.all(sent);
      // A page repeats messages without an answer, and also ones with an answer: it cannot know.
      for (const { text, key } of names) replyOf(await say(other, text, key));

      const all = replyOf(await callAt(other, listMessages, { token: maria, query: '?limit=500' })).toReversed();
      // No automatic message comes while a person has the conversation open, at either server.
      expect(all).toHaveLength(MESSAGES + 3);
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, place) => place + 1));
      const own = all.filter(({ sender }) => sender === 'user').map(({ message }) => message);
      expect(own.toSorted()).toEqual(['hello', 'only once', ...names.map(({ text }) => text)].toSorted());
      // The page at the other server hears every one of them, those that the killed one did not tell too.
      const missed = all.slice(2).map((message) => message.id);
      await vi.waitFor(() => {
        const heard = new Set(page.events().flatMap((event) => (event.kind === 'desk_message' ? [event.message.id] : [])));
        expect(missed.filter((one_id) => !heard.has(one_id))).toEqual([]);
      }, SOON);
      const heard = page.events().flatMap((event) => (event.kind === 'desk_message' ? [event.message] : []));
      const places = new Map(heard.map((message) => [message.id, message.seq]));
      for (const { id: of, seq } of all.slice(2)) expect(places.get(of)).toBe(seq);
      page.leave();
    });
  },
);
