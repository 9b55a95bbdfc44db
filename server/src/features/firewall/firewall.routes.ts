import {
  addRule,
  changeRules,
  deleteRule,
  editRule,
  importRules,
  listRevisions,
  listRules,
  setRuleEnabled,
  undoRevision,
} from '@palisade/contract/firewall';
import { countPages, nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Firewall } from './firewall.ts';

export function serveFirewall(api: Api, firewall: Firewall): void {
  const ownRule = { find: ({ id }: { id: string }) => firewall.find(id) };
  const ownRevision = { find: ({ id }: { id: string }) => firewall.findRevision(id) };

  serve(api, listRules, 'customer', async ({ session, query, header, request }) => {
    const { id } = session.user;
    const rules = await firewall.list(id, query);
    nextPage({ query, request, header }, rules);
    await countPages({ rows: rules, query, count: () => firewall.countRules(id), header });
    return rules;
  });

  serve(api, addRule, 'customer', ({ session, body }) => firewall.add(session.user.id, body));

  serve(api, setRuleEnabled, ownRule, ({ row, body }) => firewall.setEnabled(row, body.enabled));

  serve(api, editRule, ownRule, ({ row, body }) => firewall.edit(row, body));

  serve(api, deleteRule, ownRule, ({ row }) => firewall.remove(row));

  serve(api, changeRules, 'customer', async ({ session, body }) => ({
    changed: await firewall.changeRules(session.user.id, body.rule_ids, body.change),
  }));

  serve(api, importRules, 'customer', ({ session, body }) => firewall.importRules(session.user.id, body.rules, body.replace));

  serve(api, listRevisions, 'customer', async (call) =>
    nextPage(call, await firewall.revisions(call.session.user.id, call.query)),
  );

  serve(api, undoRevision, ownRevision, ({ row }) => firewall.undo(row));
}
