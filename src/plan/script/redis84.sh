
needs='Redis 8.4' busy='in progress' accepted=id
operation=import over='completed canceled cancelled'
listing=(CLUSTER MIGRATION STATUS ALL) cancelling=(CLUSTER MIGRATION CANCEL ALL)

set_words() {
    mover=$to
    moving=(CLUSTER MIGRATION IMPORT ${bounds[@]+"${bounds[@]}"})
}

check_more() { :; }
