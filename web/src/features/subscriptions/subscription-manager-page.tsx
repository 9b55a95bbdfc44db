import { useMayAdministrate } from '#api/policies.ts';
import { AdminManager } from './admin-manager.tsx';
import { CustomerPlans } from './customer-plans.tsx';
import './subscriptions.css';

/** For everybody but admins no call of the admins' is made; the server would refuse it anyway. */
export function SubscriptionManagerPage() {
  return useMayAdministrate() ? <AdminManager /> : <CustomerPlans />;
}
