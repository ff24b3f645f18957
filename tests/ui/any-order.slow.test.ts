import './any-order.test.ts';
