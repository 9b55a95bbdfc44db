import { useMayAdministrate } from '#api/policies.ts';
import { AdminManager } from './admin-manager.tsx';
import { CustomerPlans } from './customer-plans.tsx';
import './subscriptions.css';

/** Only administrators make the administrators' calls; the server refuses them for others. */
export function SubscriptionManagerPage() {
  return useMayAdministrate() ? <AdminManager /> : <CustomerPlans />;
}
