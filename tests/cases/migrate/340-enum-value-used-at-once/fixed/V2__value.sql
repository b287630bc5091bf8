alter type tone add value 'high';
